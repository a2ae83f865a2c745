import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { UnreadAnswers } from "../../../../../services/shared/rpc/socket/unread.js";

const LIMITS = { answers: 3, patienceMs: 20, bytes: 1_000 };

function rig() {
  const unread = new UnreadAnswers(LIMITS);
  const abandoned: string[] = [];
  const write = (caller: string, name: string, bytes: number) => {
    const waiting = unread.add(caller, () => abandoned.push(name));
    waiting.holds(bytes);
    return waiting;
  };
  return { write, abandoned };
}

test("of more bytes than a caller may leave unread the oldest answers are abandoned", () => {
  const { write, abandoned } = rig();
  write("a", "a1", 600);
  write("b", "b1", 600);
  write("a", "a2", 300);
  expect(abandoned).toEqual([]);
  write("a", "a3", 300);
  expect(abandoned).toEqual(["a1"]);
  write("a", "a4", 5_000);
  expect(abandoned).toEqual(["a1", "a2", "a3"]);
});

test("many answers at once are no fault, many that are left for a while are", async () => {
  const { write, abandoned } = rig();
  for (let i = 0; i < 6; i++) write("a", `a${i}`, 10);
  expect(abandoned).toEqual([]);
  await sleep(40);
  write("a", "late", 10);
  expect(abandoned).toEqual(["a0", "a1", "a2", "a3"]);
});

test("what is taken, or has ended, is not counted", async () => {
  const { write, abandoned } = rig();
  write("a", "taken", 900).holds(0);
  write("a", "ended", 900).leave();
  write("a", "last", 900);
  expect(abandoned).toEqual([]);
});
