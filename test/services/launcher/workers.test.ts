import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { forkWorkers } from "../../../services/launcher/workers.js";
import { silentLog } from "../../../services/shared/process/log.js";

/** A worker that can be made to listen, to die, or not to have been forked. */
function worker(): ChildProcess {
  const child = new EventEmitter();
  return Object.assign(child, { kill: () => child.emit("exit", null, "SIGTERM") }) as never;
}

const isReady = async (): Promise<readonly string[]> => [];

/** Starts workers one after the other, each with what becomes of it. */
function pool(...fates: ("listens" | "waits" | "cannot be forked" | "ends")[]) {
  const started: ChildProcess[] = [];
  const run = (): ChildProcess => {
    const child = worker();
    const fate = fates[started.push(child) - 1] ?? "listens";
    setImmediate(() => {
      if (fate === "listens") child.emit("message", "listening");
      else if (fate === "ends") child.emit("exit", 1, null);
      else if (fate !== "waits") child.emit("error", new Error("spawn EAGAIN"));
    });
    return child;
  };
  return { started, run };
}

test("a worker that dies comes back, also where forking another one fails at first", async () => {
  const { started, run } = pool("listens", "listens", "cannot be forked", "ends", "listens");
  const workers = forkWorkers({ count: 2, env: {}, log: silentLog, run });
  await workers.serve(isReady);
  expect(workers.serving()).toBe(2);
  started[0]?.emit("exit", null, "SIGKILL");
  expect(workers.serving()).toBe(1);
  await expect.poll(() => workers.serving(), { timeout: 30_000 }).toBe(2);
  expect(started).toHaveLength(5);
  await workers.drain(0);
  expect(started).toHaveLength(5);
});

test("a worker that does not start the first time ends the start, and nothing is tried again", async () => {
  const { started, run } = pool("listens", "cannot be forked");
  await expect(forkWorkers({ count: 2, env: {}, log: silentLog, run }).serve(isReady)).rejects.toThrow("spawn EAGAIN");
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(started).toHaveLength(2);
});

test("a worker that asks hears when it may serve, and then why this process cannot", async () => {
  const said: object[] = [];
  const child = Object.assign(worker(), {
    send: (message: object, done: () => void) => {
      said.push(message);
      done();
    },
  });
  const workers = forkWorkers({ count: 1, env: {}, log: silentLog, run: () => child as never });
  child.emit("message", { asked: "mayServe", id: 1 });
  child.emit("message", { asked: "ready", id: 2 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(said).toEqual([]);
  expect(workers.serving()).toBe(0);
  const serving = workers.serve(async () => ["the disk is full"]);
  await expect.poll(() => said).toHaveLength(2);
  expect(said).toContainEqual({ answered: 1, answer: true });
  expect(said).toContainEqual({ answered: 2, answer: ["the disk is full"] });
  child.emit("message", "listening");
  await serving;
  expect(workers.serving()).toBe(1);
  await workers.drain(0);
});

test("workers that still wait end if the start fails", async () => {
  const { started, run } = pool("waits", "waits");
  const killed: ChildProcess[] = [];
  const workers = forkWorkers({ count: 2, env: {}, log: silentLog, run });
  for (const child of started) child.once("exit", () => killed.push(child));
  await workers.drain(0);
  expect(killed).toEqual(started);
});
