import { chmodSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../support/foreign.js";
import { type Program, startProgram } from "../support/program.js";

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly found: string;
  readonly do?: string;
}

/** A platform whose clock is ten minutes behind. */
const slow = createServer((_request, response) => {
  response
    .setHeader("date", new Date(Date.now() - 600_000).toUTCString())
    .writeHead(404)
    .end();
});
let program: Program;
beforeAll(async () => {
  await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  program = await startProgram({ env: { AEV_URL: url } });
});
afterAll(async () => {
  await program?.stop();
  slow.close();
});

async function doctor(env: NodeJS.ProcessEnv = {}, ...args: string[]) {
  const { BASE_URL: _vitest, ...own } = process.env;
  const { stdout, code } = await run(process.execPath, ["dist/clients/cli/main.js", "doctor", ...args, "--json"], {
    env: { ...own, DATA_DIR: program.dataDir, ...env },
  });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return { code, of: (check: string) => findings.filter((one) => one.check === check), findings };
}

test("what is well is said to be, and what is not with what to do", async () => {
  const { code, of, findings } = await doctor();
  for (const check of ["settings", "files", "store", "sealing key", "ready", "clock", "published keys", "switches"]) {
    expect(of(check)).toMatchObject([{ state: "ok" }]);
  }
  expect(of("disk")).toHaveLength(1);
  expect(of("platform cti")).toMatchObject([{ state: "ok" }]);
  expect([...of("platform aev"), ...of("clock of aev")].some(({ state }) => state === "wrong")).toBe(true);
  expect(code).toBe(1);
  expect(findings.filter((one) => one.state !== "ok" && one.do === undefined)).toEqual([]);
});

test("wrong settings, files that others can read and a service that is not there are told", async () => {
  const open = join(program.dataDir, "service-key");
  chmodSync(open, 0o644);
  const { of } = await doctor({ PORT: "many", LEASE_MS: "1" });
  expect(of("settings").map(({ found }) => found)).toEqual([
    expect.stringContaining("--port (or PORT)"),
    expect.stringContaining("--lease-ms (or LEASE_MS)"),
  ]);
  expect(of("files")).toMatchObject([{ state: "wrong", found: expect.stringContaining("service-key") }]);
  const away = await doctor({}, "--url", "http://127.0.0.1:9", "--remote");
  expect(away.findings).toMatchObject([{ check: "service", state: "wrong" }]);
});
