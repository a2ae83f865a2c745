import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, post } from "../support/mcp.js";
import { type Program, spawnProgram, startProgram } from "../support/program.js";

const SERVERS = ["cti", "aev", "grc", "core"];

/** What the tools that write answer, of each server's. */
interface Written {
  readonly result: { readonly object: { readonly id: string } };
  readonly scenario: { readonly id: string };
  readonly control: { readonly id: string };
}

/** Writes to each built-in platform; gives the calls that read it again. */
async function writeToEach({ baseUrl, bootstrap }: Program): Promise<(readonly [string, string, object])[]> {
  const write = (server: string, tool: string) =>
    call<Written>(`${baseUrl}/mcp/${server}`, bootstrap.analyst.api_key, tool, { name: "Written before" });
  return [
    ["cti", "get_report", { report_id: (await write("cti", "create_report")).result.object.id }],
    ["aev", "get_scenario", { scenario_id: (await write("aev", "create_scenario")).scenario.id }],
    ["grc", "get_control", { control_id: (await write("grc", "create_control")).control.id }],
  ];
}

describe("a first start", () => {
  let program: Program;
  beforeAll(async () => {
    program = await startProgram();
  });
  afterAll(() => program?.stop());

  test("writes bootstrap.json for its owner only, with a working key for each account", async () => {
    const file = join(program.dataDir, "bootstrap.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      base_url: program.baseUrl,
      grpc_url: expect.stringMatching(/^http:\/\//),
      admin: { email: expect.any(String), password: expect.any(String), api_key: expect.stringMatching(/^slp_/) },
      analyst: { email: expect.any(String), password: expect.any(String), api_key: expect.stringMatching(/^slp_/) },
    });
    const who = await call<{ email: string }>(
      `${program.baseUrl}/mcp/cti`,
      program.bootstrap.analyst.api_key,
      "whoami",
    );
    expect(JSON.stringify(who)).toContain(program.bootstrap.analyst.email);
  });

  test("prints where it is, a first key, a call to copy and a client's configuration", () => {
    const said = program.output();
    expect(said).toContain(`${program.baseUrl}/mcp/`);
    expect(said).toContain(program.bootstrap.analyst.api_key);
    expect(said).toMatch(/curl -s http/);
    expect(said).toContain('"mcpServers"');
    expect(said).toContain("switched the core server on");
  });

  test("says without a key that it is alive and can serve", async () => {
    expect((await fetch(`${program.baseUrl}/healthz`)).status).toBe(200);
    expect((await fetch(`${program.baseUrl}/readyz`)).status).toBe(200);
  });

  test("publishes the keys that platforms verify our tokens with, and nothing private", async () => {
    const reply = await fetch(`${program.baseUrl}/xtm/auth/jwks`);
    const { keys } = (await reply.json()) as { keys: Record<string, string>[] };
    expect(keys[0]).toMatchObject({ kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig", kid: expect.any(String) });
    expect(keys.every((key) => !("d" in key))).toBe(true);
    const metadata = await fetch(`${program.baseUrl}/xtm/auth/metadata`);
    expect(await metadata.json()).toEqual({ issuer: program.baseUrl });
  });

  test.each(SERVERS)("answers on %s, and refuses who brings no key", async (server) => {
    const url = `${program.baseUrl}/mcp/${server}`;
    expect((await post(url, program.bootstrap.admin.api_key, "tools/list")).status).toBe(200);
    const refused = await post(url, "", "tools/list", {}, 7);
    expect(refused.status).toBe(401);
    expect(refused.body).toMatchObject({ id: 7, error: { code: 401 } });
    expect(refused.headers.get("www-authenticate")).toMatch(/^Bearer resource_metadata="http/);
  });

  test("holds its data directory against another process, and says so in one line", async () => {
    const second = spawnProgram("services/main.js", [], { PORT: "0", GRPC_PORT: "0", DATA_DIR: program.dataDir });
    const [code] = (await once(second.process, "exit")) as [number];
    expect(code).toBe(1);
    expect(second.output().trim()).toMatch(/^the data directory .* is in use by another process.*$/);
  });

  test("drains on SIGTERM with exit code 0, and the second start keeps keys and settings", async () => {
    const { dataDir, bootstrap } = program;
    const made = await writeToEach(program);
    program.process.kill("SIGTERM");
    const [code] = (await once(program.process, "exit")) as [number];
    expect(code).toBe(0);
    const again = await startProgram({ dataDir });
    try {
      expect(again.bootstrap.admin.api_key).toBe(bootstrap.admin.api_key);
      expect(again.output()).not.toContain("switched the core server on");
      for (const [server, tool, args] of made) {
        const kept = await call(`${again.baseUrl}/mcp/${server}`, bootstrap.analyst.api_key, tool, args);
        expect(JSON.stringify(kept), tool).toContain("Written before");
      }
      expect(again.output()).not.toContain("slp_");
      expect(again.output()).toContain(`  Keys  ${join(dataDir, "bootstrap.json")}\n`);
      expect((await post(`${again.baseUrl}/mcp/core`, bootstrap.admin.api_key, "tools/list")).status).toBe(200);
    } finally {
      await again.stop();
    }
  });
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s while it starts ends it in order, and the next start is whole",
  async (signal) => {
    const dir = mkdtempSync(join(tmpdir(), "sallyport-"));
    const early = spawnProgram("services/main.js", [], { PORT: "0", GRPC_PORT: "0", DATA_DIR: dir });
    await expect.poll(() => existsSync(join(dir, "main/data.mdb")), { interval: 5, timeout: 20_000 }).toBe(true);
    early.process.kill(signal);
    const ended = await once(early.process, "exit");
    expect(ended, early.output()).toEqual([0, null]);
    expect(early.output()).not.toContain("is ready");
    const whole = await startProgram({ dataDir: dir });
    await whole.stop();
    rmSync(dir, { recursive: true });
  },
  60_000,
);

test("a port that is taken is said in one line", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  const dir = mkdtempSync(join(tmpdir(), "sallyport-"));
  const child = spawnProgram("services/main.js", [], { PORT: String(port), GRPC_PORT: "0", DATA_DIR: dir });
  const [code] = (await once(child.process, "exit")) as [number];
  expect(code).toBe(1);
  expect(child.output().trim()).toBe(
    `port ${port} on 127.0.0.1 is in use by another program: stop that program, or set another port`,
  );
  taken.close();
  rmSync(dir, { recursive: true });
});

test("data of a built-in platform that cannot be read are said in one line, with the file to remove", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sallyport-"));
  const file = join(dir, "sandbox/grc");
  mkdirSync(dirname(file));
  writeFileSync(file, "torn");
  const child = spawnProgram("services/main.js", [], { PORT: "0", GRPC_PORT: "0", DATA_DIR: dir });
  const [code] = (await once(child.process, "exit")) as [number];
  expect(code).toBe(1);
  expect(child.output().trim()).toMatch(
    new RegExp(`^the data of a built-in platform in ${file} cannot be read .*: remove the file .*$`),
  );
  rmSync(dir, { recursive: true });
});

test("settings that are wrong are said all at once", async () => {
  const child = spawnProgram("services/main.js", ["--workers=-1"], { PORT: "many", SANDBOX: "maybe" });
  const [code] = (await once(child.process, "exit")) as [number];
  expect(code).toBe(1);
  for (const name of ["PORT", "SANDBOX", "WORKERS"]) expect(child.output()).toContain(`(or ${name})`);
  expect(child.output().trim().split("\n")).toHaveLength(1);
});

test("a data directory that is none is said in one line, with the setting that names it", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sallyport-"));
  const file = join(dir, "file");
  writeFileSync(file, "");
  const child = spawnProgram("services/main.js", [], { PORT: "0", GRPC_PORT: "0", DATA_DIR: file });
  const [code] = (await once(child.process, "exit")) as [number];
  expect(code).toBe(1);
  expect(child.output().trim()).toBe(
    `the data directory ${file} cannot be used: it is not a directory; set --data-dir (or DATA_DIR)`,
  );
  rmSync(dir, { recursive: true });
});

test("--help shows every setting, starts nothing and is no failure", async () => {
  const child = spawnProgram("services/main.js", ["--help"], { DATA_DIR: "/nowhere" });
  const [code] = (await once(child.process, "exit")) as [number];
  expect(code).toBe(0);
  expect(child.output()).toContain("--grpc-port (or GRPC_PORT) [50051]");
  expect(child.output()).toContain("--sandbox (or SANDBOX) [on]");
});
