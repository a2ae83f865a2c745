import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { GroupCommit } from "../../../../services/shared/process/group-commit.js";

/** Turns of the event loop that pass until something is done. */
async function turnsOf(done: Promise<void>): Promise<number> {
  let isDone = false;
  void done.then(() => {
    isDone = true;
  });
  for (let turns = 0; ; turns++) {
    // What is done in a turn is known after its microtasks.
    for (let i = 0; i < 5; i++) await Promise.resolve();
    if (isDone) return turns;
    await nextTurn();
  }
}

test("a write waits for the end of its turn, and for more turns if several shared the last one", async () => {
  const commits = new GroupCommit();
  expect(await turnsOf(commits.gather())).toBe(1);
  commits.share(3);
  // More than once: a turn that takes long ends the wait.
  const turns: number[] = [];
  for (let i = 0; i < 20; i++) turns.push(await turnsOf(commits.gather()));
  expect(Math.max(...turns)).toBe(4);
  commits.share(1);
  expect(await turnsOf(commits.gather())).toBe(1);
});

test("no turn begins after two milliseconds", async () => {
  const commits = new GroupCommit();
  commits.share(2);
  const gathered = commits.gather();
  const end = performance.now() + 5;
  while (performance.now() < end);
  expect(await turnsOf(gathered)).toBe(1);
});
