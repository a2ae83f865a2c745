import { expect, test } from "vitest";
import { fresh } from "../../../services/auth/fresh.js";

test("who asks while work runs gets the outcome of the next, which they share", async () => {
  const ends: ((value: number) => void)[] = [];
  const ask = fresh(() => new Promise<number>((resolve) => ends.push(resolve)));
  const [first, second, third] = [ask(), ask(), ask()];
  expect(ends).toHaveLength(1);
  ends[0]?.(1);
  expect(await first).toBe(1);
  await expect.poll(() => ends.length).toBe(2);
  ends[1]?.(2);
  expect(await Promise.all([second, third])).toEqual([2, 2]);
  const fourth = ask();
  ends[2]?.(3);
  expect(await fourth).toBe(3);
});

test("a failure is that of those who asked for it alone", async () => {
  let runs = 0;
  const ask = fresh(async () => {
    if (++runs === 1) throw new Error("once");
    return runs;
  });
  const [first, second] = [ask(), ask()];
  await expect(first).rejects.toThrow("once");
  expect(await second).toBe(2);
});
