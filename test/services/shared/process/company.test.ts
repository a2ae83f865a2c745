import { expect, test } from "vitest";
import { Company } from "../../../../services/shared/process/company.js";
import { turn } from "../../../../services/shared/process/turn.js";

/** Turns of the event loop that pass until something is done. */
async function turnsOf(done: Promise<void>): Promise<number> {
  let isDone = false;
  void done.then(() => {
    isDone = true;
  });
  for (let turns = 0; ; turns++) {
    // What is done in a turn is known after its microtasks.
    await Promise.resolve();
    await Promise.resolve();
    if (isDone) return turns;
    await turn();
  }
}

test("a write waits for the end of its turn, and for more turns if several shared the last one", async () => {
  const company = new Company();
  expect(await turnsOf(company.gather())).toBe(1);
  company.share(3);
  const many = await turnsOf(company.gather());
  expect(many).toBeGreaterThan(1);
  expect(many).toBeLessThanOrEqual(4);
  company.share(1);
  expect(await turnsOf(company.gather())).toBe(1);
});

test("no turn begins after two milliseconds", async () => {
  const company = new Company();
  company.share(2);
  const gathered = company.gather();
  const end = performance.now() + 5;
  while (performance.now() < end);
  expect(await turnsOf(gathered)).toBe(1);
});
