import { hash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { serialize } from "node:v8";
import { afterEach, beforeEach, expect, test } from "vitest";
import { GroupCommit } from "../../../../../services/shared/process/group-commit.js";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import { Journal, type JournalOptions } from "../../../../../services/shared/store/embedded/journal.js";
import { journalPaths } from "../../../../../services/shared/store/embedded/journal-files.js";
import {
  type Entry,
  type Frame,
  frameOf,
  framesIn,
} from "../../../../../services/shared/store/embedded/journal-frame.js";
import type { JournalMark } from "../../../../../services/shared/store/embedded/journal-mark.js";
import { isDuplicateKey } from "../../../../../services/shared/store/store.js";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "journal-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const SPEC = { name: "notes", journaled: true, indexes: [{ name: "n", key: { n: 1 } }] } as const;
interface Note {
  readonly _id: string;
  readonly n: number;
}
const note = (n: number): Note => ({ _id: `n${n}`, n });

/** A journal of documents whose places are a map that may be told to take nothing. */
async function openJournal(
  there: Map<string, string>,
  state: { takes: boolean; last: number },
  { atOnce = 64, most = 20_000, ...options }: Partial<Pick<JournalOptions, "atOnce" | "most" | "groupCommit">> = {},
) {
  const failures: unknown[] = [];
  const mark = {
    get last() {
      return state.last;
    },
    move(first: number, last: number) {
      if (state.last !== first - 1) throw new Error(`it is at ${state.last}`);
      state.last = last;
      return true;
    },
  } as JournalMark;
  const journal = await Journal.open(dir, {
    paths: journalPaths(dir, "notes"),
    mark,
    most,
    atOnce,
    ...options,
    async apply(entries, move) {
      await nextTurn();
      if (!state.takes) throw new Error("no room");
      if (move()) for (const { id, bytes } of entries) there.set(id, bytes.toString());
    },
    failed: (error) => void failures.push(error),
  });
  return { journal, failures };
}

const entry = (id: string, text = id): Entry => ({ collection: "notes", id, bytes: Buffer.from(text) });
const numbered = (first: number, ...ids: string[]): Buffer => frameOf({ first, entries: ids.map((id) => entry(id)) });
const idsIn = (bytes: Buffer): string[] => framesIn(bytes).flatMap(({ entries }) => entries.map(({ id }) => id));

test("frames are read up to the first that is not whole, wherever a file was cut or changed", () => {
  const frames: Frame[] = [
    { first: 8, entries: [entry("é", "")] },
    { first: 9, entries: [entry("b"), entry("c", "x".repeat(70_000))] },
    { first: 11, entries: [entry("d")] },
  ];
  const bytes = Buffer.concat(frames.map(frameOf));
  expect(framesIn(bytes)).toEqual(frames);
  const ends = frames.map((_, i) => Buffer.concat(frames.slice(0, i + 1).map(frameOf)).length);
  const places = Array.from({ length: bytes.length }, (_, at) => at).filter(
    (at) => at < 300 || at > bytes.length - 300,
  );
  for (const length of places) {
    const whole = ends.filter((end) => end <= length).length;
    expect(framesIn(bytes.subarray(0, length))).toEqual(frames.slice(0, whole));
  }
  for (const at of places) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] as number) ^ 0x41;
    const whole = ends.filter((end) => end <= at).length;
    expect(framesIn(changed)).toEqual(frames.slice(0, whole));
  }
});

test("frames are read up to the first that does not go on: what is behind the end of a file that was written over is older", () => {
  expect(idsIn(Buffer.concat([numbered(5, "a", "b"), numbered(7, "c"), numbered(3, "old")]))).toEqual(["a", "b", "c"]);
  expect(idsIn(Buffer.concat([numbered(5, "a"), numbered(7, "c")]))).toEqual(["a"]);
});

test("what was inserted is found at once, by every way to ask, and its files are their owner's alone", async () => {
  const store = await openEmbeddedStore(dir);
  await store.ensure([SPEC]);
  const notes = store.collection<Note>("notes");
  expect(await notes.insertMany([note(1), note(2)])).toEqual({ insertedCount: 2 });
  const files = journalPaths(join(dir, "main"), "notes");
  expect(files.map((path) => statSync(path).mode & 0o77)).toEqual([0, 0]);
  expect(idsIn(readFileSync(files[0]))).toEqual(["n1", "n2"]);
  expect(await notes.countDocuments({})).toBe(2);
  await notes.insertOne(note(3));
  // The first two are in the collection: they are written over.
  expect(idsIn(readFileSync(files[0]))).toEqual(["n3"]);
  expect(await notes.find({ n: { $gte: 2 } }, { sort: { n: 1 } }).toArray()).toEqual([note(2), note(3)]);
  await notes.insertOne(note(4));
  expect(await notes.findOne({ n: 4 })).toEqual(note(4));
  await notes.insertOne(note(5));
  expect(await notes.deleteMany({ n: { $lte: 4 } })).toEqual({ deletedCount: 4 });
  await notes.insertOne(note(6));
  expect((await notes.updateOne({ n: 6 }, { $set: { n: 7 } })).modifiedCount).toBe(1);
  await notes.insertOne(note(8));
  const found: Note[] = [];
  for await (const one of notes.find({}).sort({ n: 1 })) found.push(one);
  expect(found.map(({ n }) => n)).toEqual([5, 7, 8]);
  await store.close();
});

test("an id that is there is refused, in the journal, in the collection and after a start; those before it are inserted", async () => {
  const store = await openEmbeddedStore(dir);
  await store.ensure([SPEC]);
  const notes = store.collection<Note>("notes");
  await notes.insertOne(note(1));
  const refused = await notes.insertMany([note(2), note(1), note(3)]).catch((error: unknown) => error);
  expect(isDuplicateKey(refused)).toBe(true);
  expect(refused).toMatchObject({ result: { insertedCount: 1 } });
  expect(await notes.countDocuments({})).toBe(2);
  expect(isDuplicateKey(await notes.insertOne(note(2)).catch((error: unknown) => error))).toBe(true);
  await store.close();
  const again = await openEmbeddedStore(dir);
  await again.ensure([SPEC]);
  const same = again.collection<Note>("notes");
  expect(isDuplicateKey(await same.insertOne(note(1)).catch((error: unknown) => error))).toBe(true);
  await again.close();
});

test("what a crash left in both files goes where it belongs at the start, once, in its order, up to a gap", async () => {
  const there = new Map<string, string>();
  const files = journalPaths(dir, "notes");
  writeFileSync(files[0], Buffer.concat([numbered(7, "c", "d"), Buffer.from("half")]));
  writeFileSync(
    files[1],
    Buffer.concat([numbered(4, "old", "a"), frameOf({ first: 6, entries: [entry("c", "first")] })]),
  );
  const state = { takes: true, last: 4 };
  await (await openJournal(there, state)).journal.close();
  expect([...there]).toEqual([
    ["a", "a"],
    ["c", "c"],
    ["d", "d"],
  ]);
  expect(state.last).toBe(8);
  expect(files.map((path) => statSync(path).size)).toEqual([0, 0]);
  writeFileSync(files[0], numbered(10, "later"));
  await (await openJournal(there, state)).journal.close();
  expect(there.has("later")).toBe(false);
  expect(state.last).toBe(8);
});

test("a collection has at the start what a version before numbers left in its journal, once", async () => {
  const first = await openEmbeddedStore(dir);
  await first.ensure([SPEC]);
  await first.collection<Note>("notes").insertMany([note(1)]);
  await first.close();
  const unnumbered = (...notes: Note[]): Buffer => {
    const body = serialize(notes);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(body.length);
    return Buffer.concat([length, hash("sha256", body, "buffer").subarray(0, 8), body]);
  };
  const files = journalPaths(join(dir, "main"), "notes");
  writeFileSync(files[0], Buffer.concat([unnumbered(note(1), note(2)), unnumbered(note(3)), Buffer.from("half")]));
  for (const _ of [1, 2]) {
    const store = await openEmbeddedStore(dir);
    await store.ensure([SPEC]);
    const found = await store
      .collection<Note>("notes")
      .find({}, { sort: { n: 1 } })
      .toArray();
    expect(found.map(({ n }) => n)).toEqual([1, 2, 3]);
    await store.close();
  }
});

test("what cannot go where it belongs is kept, told, refused beyond its bound, and goes there later or at the next start, in its order", async () => {
  const there = new Map<string, string>();
  const state = { takes: false, last: 0 };
  const { journal, failures } = await openJournal(there, state, { atOnce: 2 });
  await journal.append([entry("a", "1"), entry("b"), entry("a", "2"), entry("c"), entry("a", "3")]);
  await expect(journal.settle()).rejects.toThrow("no room");
  expect(there.size).toBe(0);
  await journal.append([entry("a", "4")]);
  await expect.poll(() => failures.length, { timeout: 5_000 }).toBeGreaterThan(0);
  await journal.append(Array.from({ length: 20_000 }, (_, i) => entry(`n${i}`)));
  await expect(journal.append([entry("refused")])).rejects.toThrow("no room");
  state.takes = true;
  // It waits for room now, and finds it.
  await journal.append([entry("d")]);
  expect(there.get("a")).toBe("4");
  expect(there.size).toBe(20_003);
  await journal.settle();
  expect(there.has("d")).toBe(true);
  expect(there.has("refused")).toBe(false);
  state.takes = false;
  await journal.append([entry("e")]);
  await journal.close();
  state.takes = true;
  const next = await openJournal(there, state);
  expect(there.get("e")).toBe("e");
  await next.journal.close();
});

test("a failure in between lets nothing go before what failed", async () => {
  const order: string[] = [];
  const state = { takes: true, last: 0 };
  const there = { set: (id: string) => void order.push(id) } as unknown as Map<string, string>;
  const { journal } = await openJournal(there, state, { atOnce: 1 });
  await journal.append(["a", "b", "c", "d"].map((id) => entry(id)));
  const all = journal.flush();
  state.takes = false;
  await expect(all).rejects.toThrow();
  state.takes = true;
  await journal.append([entry("e")]);
  await journal.settle();
  expect(order).toEqual(["a", "b", "c", "d", "e"]);
  await journal.close();
});

test("entries that failed because they were faster than those before them follow, and all are there once", async () => {
  const [there, state] = [[] as string[], { last: 0 }];
  const mark = {
    get last() {
      return state.last;
    },
    move(first: number, last: number) {
      if (state.last >= last) return false;
      if (state.last !== first - 1) throw new Error(`it is at ${state.last}`);
      state.last = last;
      return true;
    },
  } as JournalMark;
  let slow = true;
  const journal = await Journal.open(dir, {
    ...{ paths: journalPaths(dir, "notes"), mark, most: 100, atOnce: 1 },
    async apply([one], move) {
      // The first time round the first entry takes longer than what comes after it.
      if (one?.id === "a" && slow) {
        slow = false;
        for (let n = 0; n < 5; n++) await nextTurn();
      }
      if (move()) there.push(String(one?.id));
    },
    failed: () => undefined,
  });
  await journal.append(["a", "b", "c"].map((id) => entry(id)));
  await expect(journal.flush()).rejects.toThrow("it is at 0");
  for (let n = 0; n < 10; n++) {
    await nextTurn();
    await journal.flush().catch(() => undefined);
  }
  expect(there).toEqual(["a", "b", "c"]);
  expect(journal.size).toBe(0);
  await journal.append([entry("d")]);
  await journal.settle();
  expect(there).toEqual(["a", "b", "c", "d"]);
  await journal.close();
});

test("once calls have shared a write, the next waits for what others append soon after; a call that is alone does not", async () => {
  const { journal } = await openJournal(new Map(), { takes: false, last: 0 }, { groupCommit: new GroupCommit() });
  const soonAfterEachOther = async (...ids: string[]): Promise<void> => {
    const appended = [];
    for (const id of ids) {
      appended.push(journal.append([entry(id)]));
      await nextTurn();
    }
    await Promise.all(appended);
  };
  await soonAfterEachOther("a", "b");
  // More than once: a turn that takes long ends the wait.
  for (let n = 0; n < 5; n++) {
    await Promise.all([journal.append([entry("c")]), journal.append([entry("d")])]);
    await soonAfterEachOther("e", "f");
  }
  await soonAfterEachOther("g");
  await soonAfterEachOther("h", "i");
  await journal.close();
  const frames = framesIn(readFileSync(journalPaths(dir, "notes")[0]));
  const written = frames.map(({ entries }) => entries.map(({ id }) => id).join(""));
  expect(written.slice(0, 3)).toEqual(["a", "b", "cd"]);
  expect(written).toContain("ef");
  expect(written.slice(-3)).toEqual(["g", "h", "i"]);
});

test("without group commit a write waits for no turn, however many shared the last one", async () => {
  const { journal } = await openJournal(new Map(), { takes: false, last: 0 });
  await Promise.all(["a", "b", "c"].map((id) => journal.append([entry(id)])));
  const first = journal.append([entry("d")]);
  await nextTurn();
  await Promise.all([first, journal.append([entry("e")])]);
  await journal.close();
  const frames = framesIn(readFileSync(journalPaths(dir, "notes")[0]));
  expect(frames.map(({ entries }) => entries.map(({ id }) => id).join(""))).toEqual(["abc", "d", "e"]);
});

test("while one file is waited for the other takes what comes, and both stay within its bound", async () => {
  const there = new Map<string, string>();
  const state = { takes: true, last: 0 };
  const { journal } = await openJournal(there, state, { most: 50 });
  const text = "x".repeat(10_000);
  await Promise.all(
    Array.from({ length: 20 }, async (_, lane) => {
      for (let n = 0; n < 100; n++) await journal.append([entry(`${lane}`, `${n} ${text}`)]);
    }),
  );
  await journal.close();
  expect([...there.values()].map((one) => one.split(" ")[0])).toEqual(Array.from({ length: 20 }, () => "99"));
  for (const path of journalPaths(dir, "notes")) expect(statSync(path).size).toBeLessThan(3 << 20);
});

test("insertions beside each other and beside readers are all there, in their order", async () => {
  const store = await openEmbeddedStore(dir);
  await store.ensure([SPEC]);
  const notes = store.collection<Note>("notes");
  await Promise.all([
    ...Array.from({ length: 300 }, async (_, n) => {
      await notes.insertOne(note(n));
      if (n % 7 === 0) expect(await notes.findOne({ _id: `n${n}` })).toEqual(note(n));
    }),
    ...Array.from({ length: 50 }, () => notes.countDocuments({})),
  ]);
  expect((await notes.find({}, { sort: { n: 1 } }).toArray()).map(({ n }) => n)).toEqual(
    Array.from({ length: 300 }, (_, n) => n),
  );
  await store.close();
});
