import { expect, test } from "vitest";
import { prefixesOf } from "../../../../services/core-objects/knowledge/prefixes.js";
import { readPrefixes } from "../../../../services/launcher/prefix-setting.js";

test.each([
  ["intfloat/multilingual-e5-large", "query: ", "passage: "],
  ["e5-small-v2", "query: ", "passage: "],
  ["intfloat/multilingual-e5-large-instruct", "Instruct: ", ""],
  ["nomic-embed-text:v1.5", "search_query: ", "search_document: "],
  ["BAAI/bge-base-en-v1.5", "Represent this sentence", ""],
])("%s has the prefixes of its card", (model, query, passage) => {
  const found = prefixesOf(model);
  expect(found?.query.startsWith(query)).toBe(true);
  expect(found?.passage).toBe(passage);
});

test("other models have none, and the setting goes first", () => {
  expect(prefixesOf("text-embedding-3-small")).toBeUndefined();
  expect(prefixesOf("bge-m3")).toBeUndefined();
  const setting = readPrefixes('{"mine": {"query": "q: ", "passage": "p: "}, "e5-base": {"query": "", "passage": ""}}');
  expect(prefixesOf("mine", setting)).toEqual({ query: "q: ", passage: "p: " });
  expect(prefixesOf("e5-base", setting)).toBeUndefined();
  expect(prefixesOf("constructor", setting)).toBeUndefined();
});
