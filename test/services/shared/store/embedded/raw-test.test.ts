import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EmbeddedCollection } from "../../../../../services/shared/store/embedded/collection.js";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import { matcherOf } from "../../../../../services/shared/store/embedded/matcher.js";
import { rawTestOf } from "../../../../../services/shared/store/embedded/raw-test.js";
import type { Store } from "../../../../../services/shared/store/store.js";

// What the bytes of a document leave no room for must not match.

let folder: string;
let store: Store;
let rawOf: (n: number) => string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "raw-"));
  store = await openEmbeddedStore(folder);
  await store.ensure([{ name: "texts", indexes: [] }]);
  const texts = store.collection("texts");
  await texts.insertMany(DOCUMENTS.map((document, n) => ({ _id: String(n), ...document })));
  rawOf = (n) =>
    (texts as unknown as EmbeddedCollection).records.read(String(n), (bytes) => ({ raw: bytes.toString("latin1") }))
      ?.raw;
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

const TEXTS = [
  "",
  "rare",
  "RARE things",
  "Müller",
  "straße",
  "名前は",
  "a😀b",
  "\ud800",
  "K",
  "ſ",
  "é",
  "a\0b",
  "x".repeat(300),
];
const DOCUMENTS = TEXTS.flatMap((text) => [
  { name: text, description: "of no use", labels: [] },
  { name: "a", description: `begins ${text} and ends`, labels: ["b", text] },
]);
const PLAIN = DOCUMENTS.push({ name: "Müller 1", description: "", labels: ["even"] }) - 1;
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
const FILTERS = TEXTS.flatMap((text) => [
  { name: text },
  { labels: text },
  { labels: { $all: ["b", text] } },
  { labels: { $in: [text, "nobody's"] } },
  { labels: { $in: [text, 7] } },
  { $and: [{ name: "a" }, { description: { $regex: escaped(text), $options: "i" } }] },
  ...[text, text.toUpperCase(), text.toLowerCase()].map((asked) => ({
    $or: [
      { name: { $regex: escaped(asked), $options: "i" } },
      { description: { $regex: escaped(asked), $options: "i" } },
    ],
  })),
]);

test("a document that matches is never left out", () => {
  let matched = 0;
  for (const filter of FILTERS) {
    const [matches, leavesRoom] = [matcherOf(filter), rawTestOf(filter)];
    for (const [n, document] of DOCUMENTS.entries()) {
      if (!matches(document)) continue;
      matched++;
      expect(leavesRoom?.(rawOf(n)) ?? true, JSON.stringify([filter, document])).toBe(true);
    }
  }
  expect(matched).toBeGreaterThan(TEXTS.length * 5);
});

test("a document without the text is left out", () => {
  const room = (filter: object) => rawTestOf(filter)?.(rawOf(PLAIN));
  expect(room({ name: "Müller 2" })).toBe(false);
  expect(room({ labels: { $all: ["even", "odd"] } })).toBe(false);
  expect(room({ $or: [{ name: { $regex: "mayer", $options: "i" } }, { labels: "odd" }] })).toBe(false);
  expect(room({ name: { $regex: "MÜLLER", $options: "i" }, n: 4 })).toBe(true);
});

test("what is no text, and a pattern that is more than one text, is left to the matcher", () => {
  for (const filter of [
    { n: 1 },
    { at: new Date() },
    { name: { $ne: "a" } },
    { name: { $regex: "a|b" } },
    { name: { $regex: "\\d" } },
    { name: { $regex: "a", $options: "x" } },
    { $or: [{ name: "a" }, { n: 1 }] },
    { name: null },
    {},
  ])
    expect(rawTestOf(filter), JSON.stringify(filter)).toBeUndefined();
});
