import { expect, test } from "vitest";
import { POSTPONED } from "../../../../facade/http/edge.js";
import { Queue } from "../../../../services/shared/limits/queue.js";

test("what waits is done in order, and gives way to others between", async () => {
  const queue = new Queue(POSTPONED);
  const done: number[] = [];
  for (let n = 0; n < 100; n++) {
    queue.add(() => {
      // Longer than a slice: each has a turn of its own.
      const until = performance.now() + 3;
      while (performance.now() < until);
      done.push(n);
    });
  }
  expect(done).toEqual([]);
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(done.length).toBeLessThan(100);
  await expect.poll(() => done.length).toBe(100);
  expect(done).toEqual(Array.from({ length: 100 }, (_, n) => n));
});

test.each([
  [16, new Queue({ ...POSTPONED, perMs: 0 })],
  [4, new Queue({ ...POSTPONED, perTurn: 4, perMs: 0 })],
])("however little it takes, only %i are done in a short turn", async (perTurn, queue) => {
  let done = 0;
  for (let n = 0; n < 100; n++) queue.add(() => done++);
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toBe(perTurn);
  await expect.poll(() => done).toBe(100);
});

test("after a long turn more are done, so that a busy loop does not keep answers back", async () => {
  const queue = new Queue({ ...POSTPONED, perTurn: 2, perMs: 4 });
  let done = 0;
  for (let n = 0; n < 1_000; n++) queue.add(() => done++);
  const until = performance.now() + 20;
  while (performance.now() < until);
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toBeGreaterThanOrEqual(80);
  expect(done).toBeLessThan(1_000);
});

test("where a turn's length says nothing, no more are done after a long one", async () => {
  const queue = new Queue({ ...POSTPONED, perTurn: 2, perMs: 0 });
  let done = 0;
  for (let n = 0; n < 100; n++) queue.add(() => done++);
  const until = performance.now() + 20;
  while (performance.now() < until);
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toBe(2);
});

test("beyond so many nothing more waits", () => {
  const queue = new Queue(POSTPONED);
  const taken = Array.from({ length: 5_000 }, () => queue.add(() => undefined));
  expect(taken.filter(Boolean)).toHaveLength(4_096);
});
