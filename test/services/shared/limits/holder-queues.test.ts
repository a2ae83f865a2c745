import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { HolderQueues } from "../../../../services/shared/limits/holder-queues.js";
import { CALL_QUEUES } from "../../../../services/shared/rpc/socket/calls.js";

const AT_ONCE = CALL_QUEUES.atOnce;

function rig() {
  let now = 1_000;
  const queues = new HolderQueues(CALL_QUEUES, () => now);
  const begun: string[] = [];
  /** A call that takes some time of the loop's when it begins. */
  const call = (caller: string, takesMs = 2): void => {
    const begin = (): void => {
      begun.push(caller);
      now += takesMs;
    };
    if (queues.admits(caller)) begin();
    else void queues.turn(caller).then(begin);
  };
  const passes = (ms: number): void => {
    now += ms;
  };
  return { queues, begun, call, passes };
}

test("of a hundred calls in one packet a few begin in each turn of the loop, and all do", async () => {
  const { begun, call } = rig();
  for (let i = 0; i < 100; i++) call("a");
  expect(begun).toHaveLength(AT_ONCE);
  await turn();
  const before = begun.length;
  await turn();
  expect(begun.length - before).toBe(1);
  for (let i = 0; i < 100; i++) await turn();
  expect(begun).toHaveLength(100);
});

test("what takes little time begins several to a turn", async () => {
  const { begun, call } = rig();
  for (let i = 0; i < 100; i++) call("a", 0.3);
  await turn();
  const before = begun.length;
  await turn();
  expect(begun.length - before).toBe(4);
});

test("a call of another caller is begun next, however many wait", async () => {
  const { begun, call } = rig();
  for (let i = 0; i < 100; i++) call("a");
  call("b");
  await turn();
  await turn();
  expect(begun).toContain("b");
  expect(begun.length).toBeLessThan(AT_ONCE + 4);
});

test("while connections come in, what waits is put off, but not for long", async () => {
  const { queues, begun, call, passes } = rig();
  for (let i = 0; i < 20; i++) call("a");
  await turn();
  const before = begun.length;
  for (let i = 0; i < 5; i++) {
    queues.delay();
    await turn();
  }
  expect(begun).toHaveLength(before);
  passes(25);
  queues.delay();
  await turn();
  expect(begun).toHaveLength(before + 1);
});

test("it is told where more of a caller's calls wait than should", () => {
  const { queues, call } = rig();
  for (let i = 0; i < AT_ONCE + 512; i++) call("a");
  expect([queues.isLong("a"), queues.isLong("b")]).toEqual([true, false]);
});
