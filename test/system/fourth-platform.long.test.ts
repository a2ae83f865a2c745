import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, toolNames } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// What somebody does who adds a platform server: a proto file, a folder, a row.

const ROOT = join(import.meta.dirname, "../..");
const FIXTURE = join(ROOT, "test/fixtures/soc");
const SOURCES = ["facade", "services", "clients", "proto", "scripts"];
const FILES = ["package.json", "tsconfig.json", "buf.yaml", "buf.gen.yaml"];
const TABLE_END = "] as const satisfies readonly PlatformDescription[];";

const tree = mkdtempSync(join(tmpdir(), "sallyport-soc-"));
/** A platform that knows its callers by the e-mail address in our token. */
const platform = createServer((request, response) => {
  const { email } = decodeJwt<{ email: string }>(request.headers.authorization?.replace("Bearer ", "") ?? "");
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://platform");
  const alerts = [{ id: "a-1", title: `an alert of ${searchParams.get("limit")} for ${email}` }];
  response.end(JSON.stringify(pathname === "/me" ? { email } : { alerts, count: 7 }));
});
let program: Program;

beforeAll(async () => {
  for (const name of [...SOURCES, ...FILES]) cpSync(join(ROOT, name), join(tree, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
  cpSync(join(FIXTURE, "proto"), join(tree, "proto"), { recursive: true });
  cpSync(join(FIXTURE, "services"), join(tree, "services"), { recursive: true });
  const table = join(tree, "services/shared/platforms.ts");
  const row = readFileSync(join(FIXTURE, "row.txt"), "utf8");
  writeFileSync(table, readFileSync(table, "utf8").replace(TABLE_END, `${row}${TABLE_END}`));

  const run = (file: string, ...args: string[]) => execFileSync(file, args, { cwd: tree, encoding: "utf8" });
  run("npm", "run", "-s", "generate:api");
  run(process.execPath, "scripts/build.mjs");

  platform.listen(0, "127.0.0.1");
  await once(platform, "listening");
  program = await startProgram({
    main: relative(join(ROOT, "dist"), join(tree, "dist/services/main.js")),
    args: ["--services", "auth,catalogue,platform-proxy"],
    env: { SOC_URL: `http://127.0.0.1:${(platform.address() as AddressInfo).port}`, SANDBOX: "off" },
  });
});

afterAll(async () => {
  await program?.stop();
  platform.close();
  rmSync(tree, { recursive: true, force: true });
});

test("its tool answers over MCP, with the first key", async () => {
  const url = `${program.baseUrl}/mcp/soc`;
  const { api_key, email } = program.bootstrap.analyst;
  expect(await toolNames(url, api_key)).toEqual(["list_alerts"]);
  expect(await call(url, api_key, "list_alerts", { page_size: 3 })).toEqual({
    alerts: [{ id: "a-1", title: `an alert of 3 for ${email}` }],
    total_size: 7,
  });
});

test("it is told of wherever platforms are: metadata, greeting and settings", async () => {
  const reply = await fetch(`${program.baseUrl}/.well-known/oauth-protected-resource/mcp/soc`);
  expect(await reply.json()).toMatchObject({ scopes_supported: ["soc:read", "soc:write"] });
  expect(program.output()).toContain("/mcp/{cti,aev,grc,soc,core}");
  const help = execFileSync(process.execPath, [join(tree, "dist/services/main.js"), "--help"], { encoding: "utf8" });
  for (const setting of ["SOC_URL", "SOC_PUBLIC_URL", "MCP_SOC_URL"]) expect(help).toContain(setting);
});
