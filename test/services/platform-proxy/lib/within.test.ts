import { getEventListeners, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { within } from "../../../../services/platform-proxy/lib/within.js";
import type { StopSignal } from "../../../../services/shared/rpc/dispatch.js";

const LONG_MS = 60_000;
/** Ends when it is told to, with the reason. */
const untilStopped = (stop: StopSignal): Promise<unknown> =>
  new Promise((resolve) => {
    const end = (): void => resolve(stop.reason);
    if (stop.aborted) end();
    else stop.addEventListener("abort", end);
  });

test("what runs is told the reason of the signal, also of one that was aborted before", async () => {
  const gone = new Error("the client went away");
  const stopping = new AbortController();
  const ended = within(stopping.signal, LONG_MS, untilStopped);
  stopping.abort(gone);
  expect(await ended).toBe(gone);
  expect(await within(stopping.signal, LONG_MS, untilStopped)).toBe(gone);
});

test("what takes too long is told so, as by AbortSignal.timeout", async () => {
  const reason = await within(new AbortController().signal, 5, untilStopped);
  expect(reason).toMatchObject({ name: "TimeoutError" });
});

test("a time beyond the longest timer is not over at once", async () => {
  const isAborted = await within(new AbortController().signal, 2 ** 40, async (stop) => {
    await sleep(20);
    return stop.aborted;
  });
  expect(isAborted).toBe(false);
});

test("what ends in time gives its result or its error, and leaves no listener", async () => {
  const { signal } = new AbortController();
  expect(await within(signal, LONG_MS, async () => "done")).toBe("done");
  const failed = new Error("failed");
  await expect(within(signal, LONG_MS, () => Promise.reject(failed))).rejects.toBe(failed);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("many may run until one signal", async () => {
  const stopping = new AbortController();
  const warned = once(process, "warning", { signal: AbortSignal.timeout(100) }).catch(() => undefined);
  const all = Promise.all(Array.from({ length: 40 }, () => within(stopping.signal, LONG_MS, untilStopped)));
  stopping.abort("over");
  expect(new Set(await all)).toEqual(new Set(["over"]));
  expect(await warned).toBeUndefined();
});
