import { expect, test } from "vitest";
import { holds, searchOf, wordsIn } from "../../../../../services/platform-proxy/platforms/grc/search-words.js";

test("words are split as the platform splits them: at blanks and commas, and not inside quotes", () => {
  expect(wordsIn("  Risk,  \"Supply chain\" don't, 'a b' \" ,")).toEqual(["risk", "supply chain", "don't", "a b", '"']);
  expect(wordsIn('"" ,')).toEqual([]);
});

test("every word is in one of the texts, in any case; a phrase is in one text whole", () => {
  expect(holds("RISK chain", ["Supply chain", null, "risks of it"])).toBe(true);
  expect(holds('"supply risk"', ["Supply", "risk"])).toBe(false);
  expect(holds("risk cloud", ["risk", undefined])).toBe(false);
});

test("a lone quote is looked for, and finds only what has it", () => {
  expect(searchOf("'")).toBe(`"'"`);
  expect(searchOf('say "')).toBe(`say '"'`);
  expect(searchOf("don't 'a b'")).toBe("don't 'a b'");
  expect(holds("'", ["it's", null])).toBe(true);
  expect(holds("'", ["its", null])).toBe(false);
});

test("an asterisk divides words, and is nothing to the platform; in quotes it is itself", () => {
  expect(wordsIn('pol* *ing "a*b"')).toEqual(["pol", "ing", "a*b"]);
  expect(searchOf("pol* *ing")).toBe("pol ing");
  expect(searchOf(" * ")).toBeUndefined();
  expect(holds("*", [null])).toBe(true);
});
