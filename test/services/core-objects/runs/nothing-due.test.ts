import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NothingDue } from "../../../../services/core-objects/runs/nothing-due.js";
import { openEmbeddedStore } from "../../../../services/shared/store/embedded/embedded.js";
import type { Base, DocCollection, Store } from "../../../../services/shared/store/store.js";

interface Timed extends Base {
  readonly due_at: Date | null;
}

const dir = mkdtempSync(join(tmpdir(), "due-"));
let store: Store;
let things: DocCollection<Timed>;

beforeAll(async () => {
  store = await openEmbeddedStore(dir);
  await store.ensure([{ name: "things", indexes: [{ name: "due", key: { due_at: 1 } }] }]);
  things = store.collection<Timed>("things");
});
afterAll(async () => {
  await store.close();
  rmSync(dir, { recursive: true });
});

const inMs = (ms: number) => new Date(Date.now() + ms);

test("nothing is due from a look that found nothing until something is written or the next time comes", async () => {
  const nothingDue = new NothingDue(things, "due_at");
  expect(nothingDue.isSo).toBe(false);
  await nothingDue.settle();
  expect(nothingDue.isSo).toBe(true);

  const written = things.insertOne({ _id: "never", due_at: null });
  expect(nothingDue.isSo).toBe(false);
  await written;
  expect(nothingDue.isSo).toBe(false);
  await nothingDue.settle();
  expect(nothingDue.isSo).toBe(true);

  await things.insertOne({ _id: "soon", due_at: inMs(300) });
  await nothingDue.settle();
  expect(nothingDue.isSo).toBe(true);
  await expect.poll(() => nothingDue.isSo, { timeout: 5_000, interval: 10 }).toBe(false);
  await nothingDue.settle();
  expect(nothingDue.isSo).toBe(false);

  // An update by id, which needs no transaction.
  await things.updateOne({ _id: "soon" }, { $set: { due_at: inMs(60_000) } });
  await nothingDue.settle();
  expect(nothingDue.isSo).toBe(true);
  await things.updateOne({ _id: "soon" }, { $set: { due_at: inMs(0) } });
  expect(nothingDue.isSo).toBe(false);
});

test("what was written while it was found out is not missed", async () => {
  const nothingDue = new NothingDue(things, "due_at");
  await things.deleteMany({});
  const settled = nothingDue.settle();
  await things.insertOne({ _id: "meanwhile", due_at: inMs(-1) });
  await settled;
  expect(nothingDue.isSo).toBe(false);
});

test("where others may write too, it says nothing", async () => {
  const shared = { find: things.find.bind(things), version: undefined } as unknown as DocCollection<Timed>;
  const nothingDue = new NothingDue(shared, "due_at");
  await nothingDue.settle();
  expect(nothingDue.isSo).toBe(false);
});
