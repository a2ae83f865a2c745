import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, open } from "lmdb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MergedRanges } from "../../../../../services/shared/store/embedded/merge.js";

// Several ranges of an index read as one, by a reader that gives way in between.

const RANGES = 1_000;
let folder: string;
let database: Database<unknown, Buffer>;
let looks = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "merge-"));
  database = open({ path: folder, keyEncoding: "binary", encoding: "msgpack" }) as unknown as typeof database;
  const { getRange } = database;
  database.getRange = function (this: typeof database, ...options: Parameters<typeof getRange>) {
    looks++;
    return getRange.apply(this, options);
  };
  await database.batch(() => {
    for (let n = 0; n < 3 * RANGES; n++) void database.put(keyOf(n % RANGES, n), `${n}`);
  });
});
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

const prefixOf = (range: number): Buffer => Buffer.from(`r${String(range).padStart(4, "0")}.`);
const keyOf = (range: number, n: number): Buffer =>
  Buffer.concat([prefixOf(range), Buffer.from(String(n).padStart(5, "0"))]);
const ranges = Array.from({ length: RANGES }, (_, n) => {
  const prefix = prefixOf(n);
  return { prefix, start: prefix, end: Buffer.concat([prefix, Buffer.from([0xff])]) };
});

test.each([false, true])("entries come in order, reverse %s, and where ranges begin is found once", (reverse) => {
  looks = 0;
  const merged = new MergedRanges(database, ranges, reverse);
  const found: string[] = [];
  for (let entry = merged.next(); entry !== undefined; entry = merged.next()) {
    found.push(entry.value as string);
    if (found.length % 100 === 0) merged.gaveWay();
  }
  const all = Array.from({ length: 3 * RANGES }, (_, n) => `${n}`);
  expect(found).toEqual(reverse ? all.reverse() : all);
  // Each range is looked at when it begins, when its first entry is used up, and at its end.
  expect(looks).toBeLessThanOrEqual(3 * RANGES);
});

test("what is gone when the reader comes back is not given, though it was read ahead", async () => {
  const merged = new MergedRanges(database, ranges, false);
  expect(merged.next()?.value).toBe("0");
  await database.remove(keyOf(1, 1));
  await database.put(keyOf(2, 2), "changed");
  merged.gaveWay();
  expect([merged.next()?.value, merged.next()?.value]).toEqual(["changed", "3"]);
});
