import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Question } from "../../../../services/core-objects/knowledge/apart/ranker.js";
import { createMirror, type Mirror, type Mirrored } from "../../../../services/core-objects/knowledge/mirror.js";
import { VECTORS, type VectorRecord } from "../../../../services/core-objects/knowledge/records.js";
import { openEmbeddedStore } from "../../../../services/shared/store/embedded/embedded.js";
import type { Store, VectorSearch } from "../../../../services/shared/store/store.js";
import { standIn } from "./stand-in-search.js";

// A database that searches vectors, by what MongoDB documents of its own.

const MODEL = "model-a";
const [EAST, NORTH] = [new Float32Array([1, 0]), new Float32Array([0, 1])];

let dir: string;
let store: Store;
/** What the database's search does where it is to do something else. */
let search: Partial<VectorSearch>;
let failures: string[];
/** The documents whose vectors were read. */
let read: string[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "mirror-"));
  store = await openEmbeddedStore(dir);
  await store.ensure([VECTORS]);
  [search, failures, read] = [{}, [], []];
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true });
});

/** As one process has it. */
function newProcess(): Mirror {
  const own = standIn(store.collection<VectorRecord>(VECTORS.name));
  const vectorSearch = async () => ({ ...own, ...search });
  return createMirror({ collection: store.collection.bind(store), vectorSearch }, ({ message }) =>
    failures.push(message),
  ) as Mirror;
}

const document = (name: string, generation: number, vector: Float32Array): Mirrored => ({
  document: name,
  generation,
  embedder: MODEL,
  vectors: async () => {
    read.push(`${name} ${generation}`);
    return { all: vector, dimensions: vector.length };
  },
});

/** What a question finds of one knowledge base at a revision, the nearest first. */
async function find(mirror: Mirror, revision: string, more: { documents?: string[]; vector?: Float32Array } = {}) {
  const question: Question = {
    query: "",
    bases: ["kb"],
    vectors: { [MODEL]: more.vector ?? EAST },
    documents: more.documents,
  };
  const found = await mirror.find(question, new Map([["kb", revision]]));
  return found.flatMap(({ near }) => near.map((one) => `${one.document} ${one.generation}`));
}

/** Brings a knowledge base there and waits for it. */
async function bring(mirror: Mirror, revision: string, documents: readonly Mirrored[]): Promise<void> {
  mirror.bring("kb", revision, documents);
  await vi.waitFor(async () => expect(await find(mirror, revision)).not.toEqual([]));
}

test("a store whose database searches no vectors has none", () => {
  expect(createMirror(store, () => {})).toBeUndefined();
});

test("a knowledge base is asked there once all of it is there, at the revision that was brought", async () => {
  const mirror = newProcess();
  expect(await find(mirror, "1")).toEqual([]);
  await bring(mirror, "1", [document("a", 1, NORTH), document("b", 1, EAST)]);
  expect(await find(mirror, "1")).toEqual(["b 1", "a 1"]);
  expect(await find(mirror, "1", { documents: ["a"] })).toEqual(["a 1"]);
  expect(await find(mirror, "2")).toEqual([]);
  expect(await find(mirror, "1", { vector: new Float32Array([1, 0, 0]) })).toEqual([]);
  expect(failures).toEqual([]);
});

test("of the next revision only what is new is brought, and what a document was before is gone", async () => {
  const mirror = newProcess();
  await bring(mirror, "1", [document("a", 1, NORTH), document("b", 1, EAST)]);
  read = [];
  await bring(mirror, "2", [document("a", 1, NORTH), document("b", 2, EAST)]);
  expect(read).toEqual(["b 2"]);
  expect(await find(mirror, "2")).toEqual(["b 2", "a 1"]);
});

test("a process that is behind takes nothing from those that are ahead", async () => {
  const [ahead, behind] = [newProcess(), newProcess()];
  await bring(ahead, "2", [document("a", 2, EAST)]);
  await bring(behind, "1", [document("a", 1, NORTH), document("b", 1, EAST)]);
  expect(await find(ahead, "2", { documents: ["a"] })).toContain("a 2");
});

test("while the database builds its index, and where it fails, nothing is found there and the log hears of it", async () => {
  const mirror = newProcess();
  await bring(mirror, "1", [document("a", 1, EAST)]);
  let isReady = true;
  search = { isReady: async () => isReady };
  const building = newProcess();
  await bring(building, "1", [document("a", 1, EAST)]);
  isReady = false;
  expect(await find(building, "1")).toEqual([]);
  expect(failures).toEqual([]);

  search = { nearest: () => Promise.reject(new Error("the index is gone")) };
  const failing = newProcess();
  failing.bring("kb", "1", [document("a", 1, EAST)]);
  await vi.waitFor(async () => {
    expect(await find(failing, "1")).toEqual([]);
    expect(failures).toContain("the index is gone");
  });
});

test("what could not be read is brought with the next question", async () => {
  const mirror = newProcess();
  mirror.bring("kb", "1", [{ ...document("a", 1, EAST), vectors: () => Promise.reject(new Error("unread")) }]);
  await vi.waitFor(() => expect(failures).toEqual(["unread"]));
  expect(await find(mirror, "1")).toEqual([]);
  await bring(mirror, "1", [document("a", 1, EAST)]);
});
