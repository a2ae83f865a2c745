import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createOpenResponses } from "../../../../services/shared/credentials/open-responses.js";
import type { Caller } from "../../../../services/shared/rpc/call.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const caller = { id: "u", keyId: "k" } as Caller;

function rig() {
  const lease = { until: Date.now() + 1_000 };
  const left = (): number => Math.max(0, lease.until - Date.now());
  const open = createOpenResponses({ held: () => left() > 0, left, close: async () => undefined });
  const ended: string[] = [];
  open.add(caller, (why) => ended.push(why));
  return { lease, open, ended };
}

test("a lease that lapses for a moment, as it does in a process that was busy, ends nothing", () => {
  const { lease, ended } = rig();
  vi.advanceTimersByTime(1_500);
  lease.until = Date.now() + 60_000;
  vi.advanceTimersByTime(30_000);
  expect(ended).toEqual([]);
});

test("without a lease for a while everything ends, and nothing is called revoked", () => {
  const { ended } = rig();
  vi.advanceTimersByTime(3_900);
  expect(ended).toEqual([]);
  vi.advanceTimersByTime(200);
  expect(ended).toEqual(["unavailable"]);
});

test("the time in which the loop was busy does not count, however long", async () => {
  vi.useRealTimers();
  const { lease, ended } = rig();
  lease.until = Date.now() + 50;
  await new Promise((resolve) => setTimeout(resolve, 100));
  const busyUntil = Date.now() + 4_000;
  while (Date.now() < busyUntil);
  setImmediate(() => {
    lease.until = Date.now() + 60_000;
  });
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(ended).toEqual([]);
});

test("a revocation ends those that are meant, with a lease or without", () => {
  const { open, ended } = rig();
  vi.advanceTimersByTime(1_500);
  open.kill(({ keyId }) => keyId === "another", "revoked");
  open.kill(({ keyId }) => keyId === "k", "revoked");
  expect(ended).toEqual(["revoked"]);
});
