import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Outbox } from "../../../../../services/shared/rpc/lane/outbox.js";

test("what is added in one turn is written together at its end, in order", async () => {
  const written: string[][] = [];
  const outbox = new Outbox((all, bytes) => {
    expect(bytes).toBe(all.reduce((sum, { length }) => sum + length, 0));
    written.push(all.map(String));
  });
  const addSoon = (text: string): void => {
    outbox.add(Buffer.from(text));
    outbox.flushSoon();
  };
  for (const text of ["a", "b", "c"]) addSoon(text);
  expect(written).toEqual([]);
  await nextTurn();
  addSoon("d");
  await nextTurn();
  expect(written).toEqual([["a", "b", "c"], ["d"]]);
});

test("what is flushed is written at once, with what waited, and the end of the turn writes only what came after", async () => {
  const written: string[][] = [];
  const outbox = new Outbox((all) => written.push(all.map(String)));
  outbox.flush();
  outbox.add(Buffer.from("a"));
  outbox.flushSoon();
  outbox.add(Buffer.from("b"));
  outbox.flush();
  expect(written).toEqual([["a", "b"]]);
  outbox.add(Buffer.from("c"));
  outbox.flushSoon();
  await nextTurn();
  expect(written).toEqual([["a", "b"], ["c"]]);
  await nextTurn();
  expect(written).toHaveLength(2);
});

test("no more than a mebibyte is written together, and what is longer goes by itself", async () => {
  const written: number[][] = [];
  const outbox = new Outbox((all) => written.push(all.map(({ length }) => length)));
  const [small, long] = [600 << 10, 5 << 20];
  for (const length of [small, small, long, 1]) outbox.add(Buffer.alloc(length));
  outbox.flushSoon();
  await nextTurn();
  expect(written).toEqual([[small], [small], [long], [1]]);
});
