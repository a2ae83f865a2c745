import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { createDeadlines, type Deadlines } from "../../../facade/mcp/deadlines.js";

let deadlines: Deadlines;
afterEach(() => deadlines.close());

const startOne = (): Promise<string> => new Promise((resolve) => deadlines.start(resolve));

test("a call ends late, and so does one that comes when there was none for a while", async () => {
  deadlines = createDeadlines(50);
  expect(await startOne()).toBe("late");
  await sleep(300);
  expect(await startOne()).toBe("late");
});

test("where no call is open no timer runs", () => {
  vi.useFakeTimers();
  deadlines = createDeadlines(1_000);
  expect(vi.getTimerCount()).toBe(0);
  const one = deadlines.start(() => undefined);
  const other = deadlines.start(() => undefined);
  expect(vi.getTimerCount()).toBe(1);
  one.done();
  vi.advanceTimersByTime(200);
  expect(vi.getTimerCount()).toBe(1);
  other.done();
  vi.advanceTimersByTime(200);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

test("at the close every open call ends", async () => {
  deadlines = createDeadlines(60_000);
  const open = startOne();
  deadlines.close();
  expect(await open).toBe("closing");
});
