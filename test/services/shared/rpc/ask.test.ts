import { expect, test } from "vitest";
import { askWithin } from "../../../../services/shared/rpc/ask.js";

const late = new Error("the deadline passed");
function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test("a deadline that passed while the loop was busy is not the other side's: it is asked again, once", async () => {
  let asked = 0;
  const slow = async () => {
    asked++;
    busy(200);
    throw late;
  };
  await expect(askWithin(50, slow)).rejects.toBe(late);
  expect(asked).toBe(2);
  const once = async (deadline: number) => {
    if (asked++ > 2) return deadline;
    busy(200);
    throw late;
  };
  expect(await askWithin(50, once)).toBeGreaterThan(Date.now());
});

test("what fails in time is not asked again", async () => {
  let asked = 0;
  const fails = async () => {
    asked++;
    throw late;
  };
  await expect(askWithin(50, fails)).rejects.toBe(late);
  expect(asked).toBe(1);
});
