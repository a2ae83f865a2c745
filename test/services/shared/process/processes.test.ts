import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { ThreadEndedError, ThreadStuckError } from "../../../../services/shared/process/asked.js";
import { createProcesses, type Processes } from "../../../../services/shared/process/processes.js";
import { usageByPs, usageOf } from "../../../../services/shared/process/usage.js";
import type { ProcessMethods } from "./processes-own.js";

const URL_OF_IT = new URL("processes-own.js", import.meta.url);
const BOUNDS = { megabytes: 64, wholeMegabytes: 300, busyMs: Number.POSITIVE_INFINITY, isLow: true };
const failed = (answer: Promise<unknown>): Promise<unknown> => answer.catch((error: Error) => error);
const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

let processes: Processes;
afterEach(() => processes.close());

test("what runs apart is another process, which knows nothing of our settings and ends with its starter", async () => {
  processes = createProcesses();
  process.env.MONGODB_URI = "mongodb://a-secret";
  const one = processes.create<ProcessMethods>(URL_OF_IT, BOUNDS);
  const { pid, settings } = await one.call("about", "");
  delete process.env.MONGODB_URI;
  expect(pid).not.toBe(process.pid);
  expect(settings).toEqual([]);
  expect(await one.call("bytes", Uint8Array.from([1, 2, 3]))).toEqual(Uint8Array.from([3, 2, 1]));
  const computing = failed(one.call("compute", ""));
  await processes.close();
  expect(await computing).toBeInstanceOf(ThreadEndedError);
  await expect.poll(() => isThere(pid), { timeout: 10_000 }).toBe(false);
});

test("a bound ends a process, whichever memory it takes, and the next call starts it again", async () => {
  processes = createProcesses();
  const one = processes.create<ProcessMethods>(URL_OF_IT, { ...BOUNDS, busyMs: 1_000 });
  for (const [method, how] of [
    ["compute", "time"],
    ["heap", "memory"],
    ["buffers", "memory"],
  ] as const) {
    const error = await failed(one.call(method, ""));
    expect([method, error]).toEqual([method, expect.objectContaining({ how })]);
    expect(error).toBeInstanceOf(ThreadEndedError);
  }
  expect(await one.call("about", "")).toMatchObject({ settings: [] });
});

test("a call that takes too long ends its process, and an idle one ends by itself", async () => {
  processes = createProcesses();
  let ends = 0;
  const options = { ...BOUNDS, ms: 1_500, idleMs: 100, ended: () => void ends++ };
  const one = processes.create<ProcessMethods>(URL_OF_IT, options);
  await one.call("about", "");
  expect(await failed(one.call("compute", ""))).toBeInstanceOf(ThreadStuckError);
  const { pid } = await one.call("about", "");
  await expect.poll(() => ends, { timeout: 10_000 }).toBe(2);
  await expect.poll(() => isThere(pid), { timeout: 10_000 }).toBe(false);
});

test("a process that is stuck ends when the one that serves is killed", async () => {
  processes = createProcesses();
  const serving = spawn(
    process.execPath,
    ["--import", "tsx", "--conditions=house:source", new URL("processes-serving.ts", import.meta.url).pathname],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [said] = (await once(serving.stdout, "data")) as [Buffer];
  const pid = Number(said.toString());
  expect(isThere(pid)).toBe(true);
  serving.kill("SIGKILL");
  await expect.poll(() => isThere(pid), { timeout: 10_000 }).toBe(false);
});

test("what a process took is known, by Linux and by ps", async () => {
  processes = createProcesses();
  for (const usage of [await usageOf([process.pid, 2 ** 22 + 1]), await usageByPs([process.pid])]) {
    expect([...usage.keys()]).toEqual([process.pid]);
    const { ms, bytes } = usage.get(process.pid)!;
    const { user, system } = process.cpuUsage();
    expect(Math.abs(ms - (user + system) / 1_000)).toBeLessThan(1_500);
    expect(Math.abs(bytes - process.memoryUsage.rss())).toBeLessThan(100 * 2 ** 20);
  }
});
