import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, expect, test } from "vitest";
import {
  createIsolation,
  type Isolation,
  type IsolationOptions,
  type Work,
} from "../../../../services/shared/isolation/isolation.js";
import { KilledError, MisbehavedError } from "../../../../services/shared/isolation/misbehaved.js";
import { BusyError } from "../../../../services/shared/isolation/turns.js";
import { createProcesses } from "../../../../services/shared/process/processes.js";
import type { MisbehavingMethods } from "./misbehaving.js";

const WORK: Work<MisbehavingMethods> = {
  module: new URL("misbehaving.js", import.meta.url),
  ...{ megabytes: 64, wholeMegabytes: 256, busyMs: 1_000, asked: 1_000, answered: 1_000, atOnce: 4 },
};
const LONG_MS = 60_000;

const processes = createProcesses();
let isolation: Isolation;
afterEach(() => isolation.close());
afterAll(() => processes.close());

function begin(more: Partial<IsolationOptions> = {}): void {
  isolation = createIsolation(processes, { places: 4, idleMs: LONG_MS, waitMs: LONG_MS, ...more });
}

function call(method: keyof MisbehavingMethods, asked: string, id = "one", more: object = {}): Promise<unknown> {
  const {
    owner = "alice",
    ms = LONG_MS,
    signal = new AbortController().signal,
  } = more as {
    owner?: string;
    ms?: number;
    signal?: AbortSignal;
  };
  return isolation.call(WORK, { id, owner }, method, asked, { ms, signal });
}
const failed = (answer: Promise<unknown>): Promise<Error> =>
  answer.then(
    (value) => new Error(`answered ${value}`),
    (error: Error) => error,
  );

test("what computes for ever, takes all memory or ends its thread is ended, and the loop goes on meanwhile", async () => {
  begin();
  expect(await call("say", "hello")).toBe("hello");
  let turns = 0;
  const turning = setInterval(() => turns++, 10);
  for (const [method, words] of [
    ["compute", "its answer takes more than 1 seconds to read"],
    ["grow", "too much memory"],
    ["stop", "the process ended"],
  ] as const) {
    const error = await failed(call(method, ""));
    expect(error).toBeInstanceOf(MisbehavedError);
    expect([method, error.message]).toEqual([method, expect.stringContaining(words)]);
    // The next call has a new thread.
    expect(await call("say", "again")).toBe("again");
  }
  clearInterval(turning);
  expect(turns).toBeGreaterThan(20);
});

test("what somebody else kills is asked again if it may, and says nothing against its remote until it happens often", async () => {
  begin();
  const remote = { id: "one", owner: "alice" };
  const { signal } = new AbortController();
  const pids: number[] = [];
  /** Kills so many of the processes that a call gets. */
  const killed = (times: number, more: object = {}): Promise<unknown> => {
    const stop = new AbortController();
    const hear = (pid: string): void => {
      pids.push(Number(pid));
      if (times-- > 0) process.kill(Number(pid), "SIGKILL");
      else stop.abort(new Error("answered"));
    };
    return isolation.call(WORK, remote, "waitAs", "", { ms: LONG_MS, signal: stop.signal, hear, ...more });
  };
  // A call that may have had an effect is not made again.
  expect(await failed(killed(1))).toBeInstanceOf(KilledError);
  expect((await failed(killed(2, { isRepeatable: true }))).message).toBe("answered");
  expect(new Set(pids).size).toBe(4);
  // Three times were an accident.
  const blamed = await failed(killed(1, { isRepeatable: true }));
  expect(blamed).toBeInstanceOf(MisbehavedError);
  expect(blamed.message).toContain("too much memory");
  expect(await isolation.call(WORK, remote, "say", "again", { ms: LONG_MS, signal })).toBe("again");
  // Nothing is held against another one.
  expect(await call("say", "hello", "two")).toBe("hello");
});

test("a call ends with its time and its signal, there too, and errors keep their words", async () => {
  begin();
  const late = await failed(call("wait", "", "one", { ms: 50 }));
  expect([late.message, (late as MisbehavedError).misbehaviour]).toEqual([
    "it did not answer within 0.05 seconds",
    "slow",
  ]);
  const stop = new AbortController();
  const stopped = failed(call("wait", "", "one", { signal: stop.signal }));
  await sleep(50);
  stop.abort(new Error("enough"));
  expect((await stopped).message).toBe("enough");
  expect((await failed(call("fail", "in these words"))).message).toBe("in these words");
});

test("what is asked and answered has a length", async () => {
  begin();
  expect((await failed(call("say", "a".repeat(1_001)))).message).toContain("longer than 1000 characters");
  const error = await failed(call("repeat", "1001"));
  expect(error).toBeInstanceOf(MisbehavedError);
  expect(error.message).toContain("longer than 1000 characters");
});

test("a remote that is stuck keeps no other one waiting, and an owner leaves threads for others", async () => {
  begin({ waitMs: 200 });
  const stop = new AbortController();
  const waiting = ["a", "b"].map((id) => failed(call("wait", "", id, { signal: stop.signal })));
  await sleep(20);
  // Two of four are alice's: as many as are left.
  expect(await failed(call("say", "hello", "c"))).toBeInstanceOf(BusyError);
  expect(await call("say", "hello", "d", { owner: "bob" })).toBe("hello");
  expect(await call("say", "hello", "a")).toBe("hello");
  const many = Array.from({ length: 4 }, () => failed(call("wait", "", "a", { ms: 100 })));
  expect((await Promise.all(many)).filter((error) => error instanceof BusyError)).toHaveLength(1);
  stop.abort();
  await Promise.all(waiting);
});

test("a thread that is idle ends, unless it is kept; where no place is left it gives way", async () => {
  begin({ places: 1, idleMs: 100 });
  await call("say", "hello");
  const release = isolation.keep(WORK, { id: "one", owner: "alice" });
  expect(await call("say", "hello", "two", { owner: "bob" })).toBe("hello");
  release();
  await sleep(400);
  expect(await call("say", "again")).toBe("again");
});
