import { expect, test } from "vitest";
import { ThreadEndedError, ThreadStuckError } from "../../../../services/shared/process/asked.js";
import { createThread, movable } from "../../../../services/shared/process/thread.js";
import type { StuckMethods } from "./stuck.js";

const URL_OF_IT = new URL("stuck.js", import.meta.url);
const failed = (answer: Promise<unknown>): Promise<unknown> => answer.catch((error: Error) => error);

test("a thread that is stuck is ended with the call that is why, and the next call starts it again", async () => {
  let ends = 0;
  const thread = createThread<StuckMethods>(URL_OF_IT, { megabytes: 64, ms: 1_500, ended: () => void ends++ });
  expect(await thread.call("say", "one")).toBe("one");
  const [stuck, after] = [failed(thread.call("compute", "")), failed(thread.call("say", "two"))];
  expect(await stuck).toBeInstanceOf(ThreadStuckError);
  expect(await stuck).toMatchObject({ message: "it took more than 1.5 seconds" });
  expect(await after).toMatchObject({ message: "another call before it took more than 1.5 seconds" });
  expect(await after).toBeInstanceOf(ThreadEndedError);
  expect(await after).not.toBeInstanceOf(ThreadStuckError);
  expect([await thread.call("say", "three"), ends]).toEqual(["three", 1]);
  await thread.close();
});

test("a call has its time from its turn on, however long others had theirs before", async () => {
  const thread = createThread<StuckMethods>(URL_OF_IT, { megabytes: 64, ms: 1_500 });
  const rests = [800, 800, 800].map((ms) => thread.call("rest", ms));
  expect(await Promise.all(rests)).toEqual(["rested", "rested", "rested"]);
  await thread.close();
});

test("a thread without calls ends after a while, and the next call starts it again", async () => {
  let ends = 0;
  const thread = createThread<StuckMethods>(URL_OF_IT, { megabytes: 64, idleMs: 100, ended: () => void ends++ });
  expect(await thread.call("say", "one")).toBe("one");
  await expect.poll(() => ends, { timeout: 10_000 }).toBe(1);
  expect(await thread.call("say", "two")).toBe("two");
  await thread.close();
});

test("a call hears what it is told before the answer, and no other call's; after its end it hears nothing", async () => {
  const thread = createThread<StuckMethods>(URL_OF_IT, { megabytes: 64 });
  const [one, two]: string[][] = [[], []];
  const calls = ["a b c", "d e"].map((words, n) =>
    thread.call("spell", words, [], undefined, (told) => (n === 0 ? one : two)!.push(told)),
  );
  expect(await Promise.all(calls)).toEqual(["spelled", "spelled"]);
  expect([one, two]).toEqual([
    ["a", "b", "c"],
    ["d", "e"],
  ]);
  const stop = new AbortController();
  const heard: string[] = [];
  const left = failed(thread.call("spell", "f g h", [], stop.signal, (told) => heard.push(told)));
  stop.abort(new Error("enough"));
  expect(await left).toMatchObject({ message: "enough" });
  expect(await thread.call("say", "after")).toBe("after");
  expect(heard).toEqual([]);
  await thread.close();
});

test("a thread that is prepared starts before it is asked; who is told that it ended is told of what nobody caught", async () => {
  const ends: ThreadEndedError[] = [];
  const thread = createThread(new URL("nowhere.js", import.meta.url), {
    megabytes: 64,
    ended: (why) => ends.push(why),
  });
  thread.prepare();
  await expect.poll(() => ends, { timeout: 10_000 }).toHaveLength(1);
  expect(ends[0]).toBeInstanceOf(ThreadEndedError);
  expect(ends[0]).toMatchObject({ message: expect.stringContaining("nowhere"), cause: expect.any(Error) });
});

test("bytes move to a thread and back: nobody keeps a copy", async () => {
  const thread = createThread<StuckMethods>(URL_OF_IT, { megabytes: 64 });
  const bytes = new Uint8Array(1 << 20).fill(7);
  const { bytes: back } = await thread.call("back", bytes, [bytes.buffer as ArrayBuffer]);
  expect([bytes.byteLength, back.byteLength, back[1_000]]).toEqual([0, 1 << 20, 7]);
  expect(await thread.call("left", "")).toBe(0);
  await thread.close();
});

test("what others stand beside in memory is copied before it moves", () => {
  const alone = Buffer.alloc(100_005).subarray(5);
  expect(movable(alone)).toBe(alone);
  const pooled = Buffer.from("small");
  expect(movable(pooled).buffer).not.toBe(pooled.buffer);
  const part = Buffer.alloc(100_000).subarray(0, 50_000);
  expect(movable(part).buffer.byteLength).toBe(50_000);
});
