import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Placed } from "../../../services/sandbox/apart/platforms.js";
import { type Apart, createApart } from "../../../services/sandbox/apart.js";
import { Kept } from "../../../services/sandbox/kept.js";
import { createLog, silentLog } from "../../../services/shared/process/log.js";

const WHERE = { host: "127.0.0.1", port: 0, trust: "http://127.0.0.1:9" };
const ROOT = join(import.meta.dirname, "../../..");

let dir: string;
let apart: Apart | undefined;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sallyport-"));
});
afterEach(async () => {
  await apart?.close();
  apart = undefined;
  rmSync(dir, { recursive: true });
});

const placed = (server: Placed["server"]): Placed => ({ ...WHERE, server, file: join(dir, server) });

/** Starts platforms in a thread that ends with the test; gives their URLs. */
function start(...servers: Placed["server"][]): Promise<readonly string[]> {
  apart = createApart(silentLog);
  return apart.start(servers.map(placed));
}

/** Asks a cti platform for a change, as nobody: whatever is answered, it writes its file. */
async function change(url: string | undefined): Promise<number> {
  const body = JSON.stringify({ query: 'mutation { reportAdd(input: { name: "One" }) { id } }' });
  const headers = { "content-type": "application/json", connection: "close" };
  const reply = await fetch(`${url}/graphql`, { method: "POST", headers, body });
  await reply.text();
  return reply.status;
}

test("while a platform makes its sample data, the thread that started it is free", async () => {
  const [cti] = await start("cti");
  const [since, before] = [performance.now(), performance.eventLoopUtilization()];
  expect(await change(cti)).toBe(200);
  const opening = performance.now() - since;
  const { active } = performance.eventLoopUtilization(before);
  // Made here, they take nearly all of that time.
  expect(active).toBeLessThan(opening / 2);
});

test("each is called at a URL of its own, in the order of their names", async () => {
  const [grc, cti] = await start("grc", "cti");
  expect(grc).not.toBe(cti);
  expect(await change(cti)).toBe(200);
  expect((await fetch(`${grc}/api/iam/current-user/`)).status).toBe(401);
});

test("a file that cannot be read ends the start with one line that names it", async () => {
  writeFileSync(join(dir, "aev"), "torn");
  await expect(start("cti", "aev")).rejects.toThrow(
    new RegExp(`^the data of a built-in platform in ${join(dir, "aev")} cannot be read .*: remove the file .*$`),
  );
});

test("a change of just before the end is written, and the next start reads it", async () => {
  const [cti] = await start("cti");
  await change(cti);
  expect(existsSync(join(dir, "cti"))).toBe(false);
  await apart?.close();
  expect(new Kept(join(dir, "cti")).before()).toMatchObject({ things: expect.anything() });
  await expect(change(cti)).rejects.toThrow();
  // It has ended: to end it again does nothing.
  await apart?.close();
  const [again] = await start("cti");
  expect(await change(again)).toBe(200);
});

test("a process that has nothing else to do waits for the start and for what is written", async () => {
  const file = join(dir, "aev");
  const program = ["--import", "tsx", "--conditions=house:source", "test/services/sandbox/apart-alone.ts", file];
  const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: ROOT });
  expect(stdout).toBe("closed");
  expect(readFileSync(file).length).toBeGreaterThan(0);
});

test("a thread that ends by itself is started once again, at the same address; then its platforms are away", async () => {
  const logged: string[] = [];
  const log = createLog("info", { write: (line: string) => void logged.push(line) });
  // The sample data take more memory than that.
  apart = createApart(log, 12);
  const [cti] = await apart.start([placed("cti")]);
  await expect(change(cti)).rejects.toThrow("fetch failed");
  await expect.poll(() => logged.at(-1), { timeout: 10_000 }).toContain("ended; they start again");
  expect(logged.at(-1)).toContain("memory limit");
  // It listens again, and dies again of the same.
  await expect.poll(async () => (await change(cti).catch(() => 0), logged.length)).toBe(2);
  expect(logged.at(-1)).toContain("ended again");
  await expect(change(cti)).rejects.toThrow("fetch failed");
});
