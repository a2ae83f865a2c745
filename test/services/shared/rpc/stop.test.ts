import { expect, test } from "vitest";
import { Stop } from "../../../../services/shared/rpc/stop.js";

test("tells each listener once, with the first reason, but those that left", () => {
  const stop = new Stop();
  const heard: string[] = [];
  const leaves = (): void => void heard.push("left");
  stop.addEventListener("abort", () => void heard.push("one"));
  stop.addEventListener("abort", leaves);
  stop.addEventListener("abort", () => void heard.push("other"));
  stop.removeEventListener("abort", leaves);
  expect(stop).toMatchObject({ aborted: false, reason: undefined });
  stop.abort("first");
  stop.abort("second");
  expect(stop).toMatchObject({ aborted: true, reason: "first" });
  expect(heard).toEqual(["one", "other"]);
});

test("its AbortSignal tells the same, whether it is asked for before or after", () => {
  const before = new Stop();
  const { signal } = before;
  expect(signal.aborted).toBe(false);
  before.abort("over");
  expect(signal).toMatchObject({ aborted: true, reason: "over" });
  const after = new Stop();
  after.abort("over");
  expect(after.signal).toMatchObject({ aborted: true, reason: "over" });
});

test("a listener may leave while all are told", () => {
  const stop = new Stop();
  const heard: string[] = [];
  const first = (): void => {
    heard.push("first");
    stop.removeEventListener("abort", first);
  };
  stop.addEventListener("abort", first);
  stop.addEventListener("abort", () => void heard.push("second"));
  stop.abort("over");
  expect(heard).toEqual(["first", "second"]);
});
