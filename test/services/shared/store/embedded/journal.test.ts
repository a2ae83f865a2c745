import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import { Journal } from "../../../../../services/shared/store/embedded/journal.js";
import { journalPaths } from "../../../../../services/shared/store/embedded/journal-files.js";
import { documentsIn, frameOf } from "../../../../../services/shared/store/embedded/journal-frame.js";
import type { Stored } from "../../../../../services/shared/store/embedded/records.js";
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

/** A journal whose collection is a map that may be told to take nothing. */
async function openJournal(there: Map<string, Stored>, state: { takes: boolean }) {
  const failures: unknown[] = [];
  const journal = await Journal.open(dir, {
    paths: journalPaths(dir, "notes"),
    has: (id) => there.has(id),
    async apply(documents) {
      if (!state.takes) throw new Error("no room");
      for (const document of documents) if (!there.has(document._id)) there.set(document._id, document);
    },
    failed: (error) => void failures.push(error),
  });
  return { journal, failures };
}

test("frames are read up to the first that is not whole, wherever a file was cut or changed", () => {
  const frames = [[note(1)], [note(2), note(3)], [{ _id: "d", at: new Date(0), bytes: Buffer.from("x") }]];
  const bytes = Buffer.concat(frames.map(frameOf));
  expect(documentsIn(bytes)).toEqual(frames.flat());
  const ends = frames.map((_, i) => Buffer.concat(frames.slice(0, i + 1).map(frameOf)).length);
  for (let length = 0; length < bytes.length; length++) {
    const whole = ends.filter((end) => end <= length).length;
    expect(documentsIn(bytes.subarray(0, length))).toEqual(frames.slice(0, whole).flat());
  }
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] as number) ^ 0x41;
    const whole = ends.filter((end) => end <= at).length;
    expect(documentsIn(changed)).toEqual(frames.slice(0, whole).flat());
  }
});

test("what was inserted is found at once, by every way to ask, and its files are their owner's alone and empty again", async () => {
  const store = await openEmbeddedStore(dir);
  await store.ensure([SPEC]);
  const notes = store.collection<Note>("notes");
  expect(await notes.insertMany([note(1), note(2)])).toEqual({ insertedCount: 2 });
  const files = journalPaths(join(dir, "main"), "notes");
  expect(files.map((path) => statSync(path).mode & 0o77)).toEqual([0, 0]);
  expect(documentsIn(readFileSync(files[0]))).toEqual([note(1), note(2)]);
  expect(await notes.countDocuments({})).toBe(2);
  expect(files.map((path) => statSync(path).size)).toEqual([0, 0]);
  await notes.insertOne(note(3));
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

test("what a crash left in both files is in the collection after the start, once", async () => {
  const first = await openEmbeddedStore(dir);
  await first.ensure([SPEC]);
  await first.collection<Note>("notes").insertMany([note(1)]);
  await first.close();
  const files = journalPaths(join(dir, "main"), "notes");
  writeFileSync(files[0], Buffer.concat([frameOf([note(1)]), frameOf([note(2)]), Buffer.from("half")]));
  writeFileSync(files[1], frameOf([note(3)]));
  const store = await openEmbeddedStore(dir);
  await store.ensure([SPEC]);
  const found = await store
    .collection<Note>("notes")
    .find({}, { sort: { n: 1 } })
    .toArray();
  expect(found.map(({ n }) => n)).toEqual([1, 2, 3]);
  await store.close();
});

test("what its collection does not take is kept, told, refused beyond its bound, and goes there later or at the next start", async () => {
  const there = new Map<string, Stored>();
  const state = { takes: false };
  const { journal, failures } = await openJournal(there, state);
  expect(await journal.append([note(1)])).toBe(1);
  await expect(journal.settle()).rejects.toThrow("no room");
  expect(await journal.append([note(2)])).toBe(1);
  expect(await journal.append([note(1)])).toBe(0);
  await expect.poll(() => failures.length, { timeout: 5_000 }).toBeGreaterThan(0);
  await journal.append(Array.from({ length: 20_000 }, (_, i) => note(10 + i)));
  await expect(journal.append([note(3)])).rejects.toThrow("no room");
  state.takes = true;
  // It waits for room now, and finds it.
  expect(await journal.append([note(3)])).toBe(1);
  expect(there.size).toBe(20_002);
  await journal.settle();
  expect(there.size).toBe(20_003);
  state.takes = false;
  await journal.append([note(4)]);
  await journal.close();
  state.takes = true;
  const next = await openJournal(there, state);
  expect(there.get("n4")).toEqual(note(4));
  await next.journal.close();
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
