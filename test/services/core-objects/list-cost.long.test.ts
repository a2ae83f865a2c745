import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EmbeddedCollection } from "../../../services/shared/store/embedded/collection.js";
import { titled } from "../../support/titled.js";
import { type Lists, startWithMany } from "./lists-of-many.js";
import { nthId } from "./many.js";
import type { Rig } from "./rig.js";

// What a list costs is counted in what is read of the store, because clocks of
// a busy machine tell little: `test/bench/lists.ts` has the times.

const FEW = 1_000;
const MANY = 10_000;
const TIMES = 3;
const RUNS = 2;

type Started = { rig: Rig; lists: Lists; work: { read: number } };
let few: Started;
let many: Started;

// Entries and documents are read by these calls alone; one of a document counts twice where it is decoded.
function counted(rig: Rig): { read: number } {
  const work = { read: 0 };
  for (const name of ["agents", "skills", "traces", "spans", "span_lists", "span_segments"]) {
    const { records } = rig.store.collection(name) as unknown as EmbeddedCollection;
    const indexes = [...records.indexes.values()].map(({ database }) => database);
    for (const database of [records.documents, ...indexes] as (typeof records.documents)[]) {
      const { getRange, get, getBinaryFast } = database;
      database.getRange = function* (this: typeof database, ...options: Parameters<typeof getRange>) {
        work.read++;
        for (const entry of getRange.apply(this, options)) {
          work.read++;
          yield entry;
        }
      } as never;
      database.get = function (this: typeof database, ...key: Parameters<typeof get>) {
        work.read++;
        return get.apply(this, key);
      } as never;
      database.getBinaryFast = function (this: typeof database, ...key: Parameters<typeof getBinaryFast>) {
        work.read++;
        return getBinaryFast.apply(this, key);
      } as never;
    }
  }
  return work;
}

async function start(count: number): Promise<Started> {
  const { rig, lists } = await startWithMany(count);
  return { rig, lists, work: counted(rig) };
}

/** The least of some, since what has expired is looked for now and then and read too. */
async function workOf(started: Started, name: string) {
  const runs = [];
  for (let i = 0; i < RUNS; i++) runs.push(await once(started, name));
  return runs.reduce((least, run) => (run.read < least.read ? run : least));
}

async function once({ rig, lists, work }: Started, name: string) {
  // A page, and what a query finds, are kept until something of their collection changes (decision 0095).
  for (const kind of ["agents", "skills"])
    await rig.store.collection(kind).updateOne({ _id: nthId(0) }, { $set: { request: randomUUID() } as never });
  const before = work.read;
  await lists[name]!();
  return { read: work.read - before };
}

// With MONGODB_URI the services' store is not the embedded one, whose reads are counted here.
const other = process.env.MONGODB_URI && "the store is that of MONGODB_URI";
describe.skipIf(other)(titled("of the embedded store", other), () => {
  beforeAll(async () => {
    few = await start(FEW);
    many = await start(MANY);
  }, 240_000);
  afterAll(async () => {
    await few?.rig.close();
    await many?.rig.close();
  });

  test(`a page among ${MANY} reads at most ${TIMES} times what it reads among ${FEW}, for everybody and every filter`, async () => {
    const names = Object.keys(few.lists);
    expect(names.length).toBeGreaterThan(60);
    const dear: string[] = [];
    for (const name of names) {
      const [a, b] = [await workOf(few, name), await workOf(many, name)];
      expect(a.read).toBeGreaterThan(0);
      if (b.read > a.read * TIMES) dear.push(`${name}: ${a.read} then ${b.read}`);
    }
    expect(dear).toEqual([]);
  }, 240_000);
});
