import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Outbox } from "../../../../../services/shared/rpc/lane/outbox.js";

test("what is added in one turn is written together at its end, in order", async () => {
  const written: string[][] = [];
  const outbox = new Outbox((all, bytes) => {
    expect(bytes).toBe(all.reduce((sum, { length }) => sum + length, 0));
    written.push(all.map(String));
  });
  for (const text of ["a", "b", "c"]) outbox.add(Buffer.from(text));
  expect(written).toEqual([]);
  await nextTurn();
  outbox.add(Buffer.from("d"));
  await nextTurn();
  expect(written).toEqual([["a", "b", "c"], ["d"]]);
});

test("no more than a mebibyte is written together, and what is longer goes by itself", async () => {
  const written: number[][] = [];
  const outbox = new Outbox((all) => written.push(all.map(({ length }) => length)));
  const [small, long] = [600 << 10, 5 << 20];
  for (const length of [small, small, long, 1]) outbox.add(Buffer.alloc(length));
  await nextTurn();
  await nextTurn();
  expect(written).toEqual([[small], [small], [long], [1]]);
});
