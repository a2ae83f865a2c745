import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { startWorkers } from "../../../services/launcher/workers.js";
import { silentLog } from "../../../services/shared/process/log.js";

/** A worker that can be made to listen, to die, or not to have been forked. */
function worker(): ChildProcess {
  const child = new EventEmitter();
  return Object.assign(child, { kill: () => child.emit("exit", null, "SIGTERM") }) as never;
}

/** Starts workers one after the other, each with what becomes of it. */
function pool(...fates: ("listens" | "cannot be forked" | "ends")[]) {
  const started: ChildProcess[] = [];
  const run = (): ChildProcess => {
    const child = worker();
    const fate = fates[started.push(child) - 1] ?? "listens";
    setImmediate(() => {
      if (fate === "listens") child.emit("message", "listening");
      else if (fate === "ends") child.emit("exit", 1, null);
      else child.emit("error", new Error("spawn EAGAIN"));
    });
    return child;
  };
  return { started, run };
}

test("a worker that dies comes back, also where forking another one fails at first", async () => {
  const { started, run } = pool("listens", "listens", "cannot be forked", "ends", "listens");
  const workers = await startWorkers({ count: 2, env: {}, log: silentLog, run });
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
  await expect(startWorkers({ count: 2, env: {}, log: silentLog, run })).rejects.toThrow("spawn EAGAIN");
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(started).toHaveLength(2);
});
