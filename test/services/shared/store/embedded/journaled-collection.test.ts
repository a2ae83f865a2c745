import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import { isDuplicateKey, type Store } from "../../../../../services/shared/store/store.js";

// An id is in a journaled collection once, in whatever order ids come, and if documents are inserted without the journal
// too. An id above all others is not looked up.

const SPEC = {
  name: "notes",
  journaled: true,
  indexes: [
    { name: "n", key: { n: 1 } },
    { name: "tags", key: { tags: 1, n: -1 } },
  ],
} as const;
interface Note {
  readonly _id: string;
  readonly n: number;
  /** In some an array: such a document has several keys. */
  readonly tags?: string | readonly string[];
}

const TAGS = [{}, { tags: "b" }, { tags: ["a", "b"] }, { tags: "\0b" }] as const;
const IDS = fc.oneof(
  { weight: 6, arbitrary: fc.nat(12).map((n) => String(n).padStart(4, "0")) },
  {
    weight: 3,
    arbitrary: fc.constantFrom("0009", "0010", "~", "a", "B", "é", "\u{1f600}", "\uffff", "", "x".repeat(81)),
  },
);
const STEPS = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant("insert" as const), ids: fc.array(IDS, { maxLength: 4 }) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("delete", "upsert", "take", "bulk"), id: IDS }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("wait" as const, "reopen" as const) }) },
  ),
  { minLength: 1, maxLength: 24 },
);

test("an id is there once, as in a map", async () => {
  const dir = mkdtempSync(join(tmpdir(), "journaled-"));
  let run = 0;
  await fc.assert(
    fc.asyncProperty(STEPS, async (steps) => {
      const path = join(dir, String(run++));
      let store: Store;
      const open = async () => {
        store = await openEmbeddedStore(path);
        await store.ensure([SPEC]);
        return store.collection<Note>("notes");
      };
      let notes = await open();
      const model = new Map<string, number>();
      let n = 0;
      for (const step of steps) {
        n++;
        if ("ids" in step) {
          const until = step.ids.findIndex((id, i) => model.has(id) || step.ids.indexOf(id) < i);
          const inserted = until < 0 ? step.ids : step.ids.slice(0, until);
          const error = await notes.insertMany(step.ids.map((_id, i) => ({ _id, n, ...TAGS[i] }))).then(
            () => undefined,
            (error: unknown) => error,
          );
          expect(error === undefined).toBe(until < 0);
          if (error !== undefined) expect(isDuplicateKey(error)).toBe(true);
          for (const id of inserted) model.set(id, n);
        } else if (step.kind === "reopen") {
          await store!.close();
          notes = await open();
        } else if (step.kind === "wait") await new Promise((resolve) => setTimeout(resolve, 1));
        else if ("id" in step) {
          const { id } = step;
          if (step.kind === "delete") {
            await notes.deleteOne({ _id: id });
            model.delete(id);
          } else {
            if (step.kind === "upsert") await notes.updateOne({ _id: id }, { $set: { n } }, { upsert: true });
            else if (step.kind === "take") await notes.findOneAndUpdate({ _id: id }, { $set: { n } }, { upsert: true });
            else await notes.bulkWrite([{ updateOne: { filter: { _id: id }, update: { $set: { n } }, upsert: true } }]);
            model.set(id, n);
          }
        }
      }
      const found = await notes.find({}).toArray();
      expect(new Map(found.map((note) => [note._id, note.n]))).toEqual(model);
      // The index has the same.
      const indexed = await notes.find({ n: { $gte: 0 } }, { hint: "n" }).toArray();
      expect(indexed.map(({ _id }) => _id).sort()).toEqual([...model.keys()].sort());
      const tagged = found
        .filter(({ tags }) => tags === "b" || (Array.isArray(tags) && tags.includes("b")))
        .map(({ _id }) => _id);
      const asked = await notes.find({ tags: "b" }, { hint: "tags" }).toArray();
      expect(asked.map(({ _id }) => _id).sort()).toEqual(tagged.sort());
      await store!.close();
      rmSync(path, { recursive: true });
    }),
    { numRuns: 60 },
  );
  rmSync(dir, { recursive: true });
}, 60_000);

test.each(["first", "last"])(
  "an upsert beside an insertion of its id, asked for %s, leaves one document in its index",
  async (when) => {
    const dir = mkdtempSync(join(tmpdir(), "journaled-"));
    const store = await openEmbeddedStore(dir);
    await store.ensure([SPEC]);
    const notes = store.collection<Note>("notes");
    const upsert = () => notes.updateOne({ _id: "a" }, { $set: { n: 1 } }, { upsert: true });
    const insert = () => notes.insertOne({ _id: "a", n: 2 });
    const asked = when === "first" ? [upsert, insert] : [insert, upsert];
    await Promise.allSettled(asked.map((ask) => ask()));
    const [only, ...more] = await notes.find({}).toArray();
    expect(more).toEqual([]);
    expect(await notes.find({ n: { $gte: 0 } }, { hint: "n" }).toArray()).toEqual([only]);
    await store.close();
    rmSync(dir, { recursive: true });
  },
);

test("an index that is unique is refused: an insertion is acknowledged before indexes hear of it", async () => {
  const dir = mkdtempSync(join(tmpdir(), "journaled-"));
  const store = await openEmbeddedStore(dir);
  const spec = { ...SPEC, indexes: [{ name: "n", key: { n: 1 }, unique: true }] } as const;
  await expect(store.ensure([spec])).rejects.toThrow("no index of it is unique");
  await store.close();
  rmSync(dir, { recursive: true });
});

test("no other thread writes it", async () => {
  const dir = mkdtempSync(join(tmpdir(), "journaled-"));
  const store = await openEmbeddedStore(dir);
  await store.ensure([SPEC]);
  expect(() => store.place(["notes"])).toThrow("one thread writes it");
  await store.close();
  rmSync(dir, { recursive: true });
});
