import { describe, expect, test } from "vitest";
import type { Base, CollectionSpec, Store } from "../../../../services/shared/store/store.js";
import { titled } from "../../../support/titled.js";
import { backends } from "./backends.js";

const THINGS: CollectionSpec = { name: "things", indexes: [] };
const OTHERS: CollectionSpec = { name: "others", indexes: [] };

interface Version extends Base {
  readonly version: number;
}
const versionsOf = (store: Store) => store.collection<Version>("schema_versions");

const REFUSAL =
  "a version before 0.2.0 wrote this store, and this version cannot read it: start with an empty store (DATA_DIR or MONGODB_URI), or run the version that wrote it";

for (const backend of backends) {
  describe.skipIf(backend.missing !== undefined)(titled(backend.title, backend.missing), () => {
    async function withStore(work: (store: Store) => Promise<void>): Promise<void> {
      const { store, close } = await backend.open();
      try {
        await store.ensure([THINGS]);
        await work(store);
      } finally {
        await close();
      }
    }

    test("a new store is marked, and is used by the same version again", () =>
      withStore(async (store) => {
        expect(await versionsOf(store).findOne({ _id: "format" })).toEqual({ _id: "format", version: 1 });
        await store.collection("things").insertOne({ _id: "a" });
        await store.ensure([THINGS, OTHERS]);
        await Promise.all([store.ensure([THINGS]), store.ensure([OTHERS])]);
      }));

    test("a store with documents and without a mark is refused in one line, and stays as it is", () =>
      withStore(async (store) => {
        await store.collection("things").insertOne({ _id: "a" });
        await versionsOf(store).deleteMany({});
        await expect(store.ensure([THINGS])).rejects.toThrow(REFUSAL);
        expect(await versionsOf(store).countDocuments()).toBe(0);
        expect(await store.collection("things").findOne({ _id: "a" })).toEqual({ _id: "a" });
      }));

    test("so is one whose collections are empty, if an older version migrated it", () =>
      withStore(async (store) => {
        await versionsOf(store).deleteMany({});
        await versionsOf(store).insertOne({ _id: "users", version: 1 });
        await expect(store.ensure([THINGS])).rejects.toThrow(REFUSAL);
      }));

    test("a store of a newer format is refused", () =>
      withStore(async (store) => {
        await versionsOf(store).updateOne({ _id: "format" }, { $set: { version: 2 } });
        await expect(store.ensure([THINGS])).rejects.toThrow(
          "the store has format 2, and this version of the product knows only formats up to 1",
        );
      }));
  });
}
