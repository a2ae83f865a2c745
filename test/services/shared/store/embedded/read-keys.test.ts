import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type Database, open, type RootDatabase } from "lmdb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withPooledKeys } from "../../../../../services/shared/store/embedded/read-keys.js";
import { idKey, idKeyOnce } from "../../../../../services/shared/store/embedded/values.js";

let folder: string;
let root: RootDatabase;
let database: Database<string, Buffer>;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-keys-"));
  root = open({ path: folder, pageSize: 8192 });
  database = withPooledKeys(root.openDB("keys", { encoding: "string", keyEncoding: "binary" }));
});
afterAll(async () => {
  await root.close();
  rmSync(folder, { recursive: true, force: true });
});

test("keys of every length are read as they were written, and stay so", async () => {
  const lengths = Array.from({ length: 500 }, (_, length) => length + 1);
  const keys = lengths.map((length) => Buffer.alloc(length, length));
  for (const key of keys) void database.put(key, String(key.length));
  await database.flushed;
  const read = [...database.getRange({})].map(({ key, value }) => ({ key, value }));
  // Others are read meanwhile.
  expect([...database.getRange({})]).toHaveLength(keys.length);
  const expected = keys.map((key) => ({ key, value: String(key.length) }));
  const inOrder = (entries: typeof read) => entries.toSorted((a, b) => Buffer.compare(a.key, b.key));
  expect(inOrder(read)).toEqual(inOrder(expected));
});

test("the key of a question is the key of the document, for every id", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", maxLength: 120 }), { maxLength: 5 }), (ids) => {
      for (const id of ids) expect(Buffer.compare(idKeyOnce(id), idKey(id))).toBe(0);
    }),
  );
  for (const id of ["", "\0", "a\0b", "€".repeat(80), "€".repeat(81), "\ud800", "😀".repeat(40)])
    expect(Buffer.compare(idKeyOnce(id), idKey(id))).toBe(0);
});
