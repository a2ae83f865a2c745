import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Thread } from "../../../../../services/shared/process/asked.js";
import { createThread } from "../../../../../services/shared/process/thread.js";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import type { Base, CollectionSpec, Store } from "../../../../../services/shared/store/store.js";
import type { BesideMethods } from "./beside-thread.js";

// A thread of the process writes into the store that the process has open.

const SPEC: CollectionSpec = {
  name: "tagged",
  environment: "traces",
  indexes: [
    { name: "n", key: { n: 1 } },
    { name: "tags", key: { tags: 1, n: 1 } },
  ],
};
interface Tagged extends Base {
  readonly n: number;
  readonly tags: readonly string[] | string;
}

let dir: string;
let store: Store;
let thread: Thread<BesideMethods>;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "beside-"));
  store = await openEmbeddedStore(dir);
  await store.ensure([SPEC]);
  thread = createThread<BesideMethods>(new URL("beside-thread.js", import.meta.url), { megabytes: 128 });
});
afterEach(async () => {
  await thread.call("close", undefined as never);
  await thread.close();
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

const write = (from: number, count: number, tags: readonly string[]) =>
  thread.call("write", { place: store.place([SPEC.name]), spec: SPEC, from, count, tags });

test("what a thread writes is found by every index, and both may write at once", async () => {
  const collection = store.collection<Tagged>(SPEC.name);
  const own = Array.from({ length: 1_000 }, (_, n) => ({ _id: `m${n}`, n: 10_000 + n, tags: "own" }));
  const [inserted] = await Promise.all([write(0, 1_000, ["a", "b"]), collection.insertMany(own)]);
  expect(inserted).toBe(1_000);
  await sleep(1);
  expect(await collection.countDocuments()).toBe(2_000);
  expect(await collection.countDocuments({ n: { $gte: 500, $lt: 600 } })).toBe(100);
  // The first lists under an index were noted by the thread: a document under two keys is found once.
  expect(await collection.find({ tags: { $in: ["a", "b"] } }).toArray()).toHaveLength(1_000);
  expect(await collection.find({ tags: { $gte: "a", $lt: "c" } }).toArray()).toHaveLength(1_000);
});

test("the file grows under both while the process reads", async () => {
  const collection = store.collection<Tagged>(SPEC.name);
  const tag = "я".repeat(2_000);
  let isWritten = false;
  const writing = write(0, 6_000, [tag]).finally(() => {
    isWritten = true;
  });
  let [reads, own] = [0, 0];
  while (!isWritten) {
    const found = await collection.find({ n: { $gte: 0 } }, { limit: 50 }).toArray();
    for (const { tags } of found) if (Array.isArray(tags)) expect(tags[0] === tag).toBe(true);
    await collection.insertOne({ _id: `m${own}`, n: -1 - own++, tags: tag });
    reads += found.length;
  }
  expect(await writing).toBe(6_000);
  await sleep(1);
  expect(reads).toBeGreaterThan(0);
  expect(await collection.countDocuments()).toBe(6_000 + own);
});

test("what either has noted of an index outlives both", async () => {
  await write(0, 10, ["a", "b"]);
  await store.collection<Tagged>(SPEC.name).insertOne({ _id: "m", n: 99, tags: "own" });
  await thread.call("close", undefined as never);
  await store.close();
  store = await openEmbeddedStore(dir);
  await store.ensure([SPEC]);
  const found = store.collection<Tagged>(SPEC.name).find({ tags: { $in: ["a", "b", "own"] } });
  expect(await found.toArray()).toHaveLength(11);
});

test("a thread that ends while it writes leaves the store to others", async () => {
  const collection = store.collection<Tagged>(SPEC.name);
  await write(0, 1, ["a"]);
  const writing = write(1, 100_000, ["a"]).catch((error: Error) => error.message);
  await sleep(50);
  await thread.close("the test ends it");
  expect(await writing).toBe("the test ends it");
  await collection.insertOne({ _id: "m", n: 1_000_000, tags: "own" });
  expect(await collection.countDocuments({ n: 1_000_000 })).toBe(1);
  // What is under an index is there, whole.
  for (const { n, tags } of await collection.find({ n: { $lt: 1_000_000 } }).toArray()) {
    expect(tags).toEqual(["a"]);
    expect(n).toBeGreaterThanOrEqual(0);
  }
});
