import fc from "fast-check";
import { expect, test } from "vitest";
import { Words } from "../../../../services/core-objects/knowledge/apart/words.js";
import { packedTerms } from "../../../../services/core-objects/knowledge/packed-terms.js";
import { tokensIn } from "../../../../services/core-objects/knowledge/terms.js";

const VOCABULARY = "beacon beacons lateral CVE-2024-3094 T1059.001 domain c2 198.51.100.7 the and logs log".split(" ");
const text = fc.array(fc.constantFrom(...VOCABULARY), { maxLength: 12 }).map((words) => words.join(" "));
const passages = fc.array(fc.record({ text, headings: fc.array(text, { maxLength: 2 }) }), {
  minLength: 1,
  maxLength: 5,
});
const written = fc.record({ name: text, passages });
const step = fc.record({
  document: fc.constantFrom("a", "b", "c", "d"),
  put: fc.option(written, { freq: 3 }),
  // In portions, or in portions of which the last never comes.
  how: fc.constantFrom("whole", "parts", "left"),
});

interface Given {
  readonly name: string;
  readonly passages: readonly { readonly text: string; readonly headings: readonly string[] }[];
}

/** Each passage is a block: those of a block are read as of one language. */
const termsOf = ({ passages }: Given): Uint8Array[] => passages.map((one) => packedTerms([one]));

function put(words: Words, document: string, given: Given): void {
  words.put(document, { name: given.name, terms: termsOf(given) });
}

/** Takes a document in passage by passage, without showing it. */
function stage(words: Words, document: string, given: Given): void {
  words.unstage(document);
  for (const one of termsOf(given)) words.stage(document, { name: given.name, terms: [one] });
}

/** With documents of one passage each, by their names. */
function filled(texts: Readonly<Record<string, string>>): Words {
  const words = new Words();
  for (const [document, one] of Object.entries(texts))
    put(words, document, { name: "", passages: [{ text: one, headings: [] }] });
  return words;
}

function foundIn(words: Words, query: string): string[] {
  const found = [...words.find(query, 10, undefined)].sort((a, b) => b.score - a.score);
  return found.map(({ document }) => document);
}

test("a passage with a rare name as a whole is found beyond the limit", () => {
  const words = filled({
    a: "rotate the gateway keys each month, rotate the gateway keys",
    b: "rotate the gateway keys each month",
    c: `CVE-2026-12345 ${"is a long story of other things ".repeat(40)}`,
    d: "of other things",
  });
  const found = words.find("rotate the gateway keys each month CVE-2026-12345", 1, undefined);
  expect(found.map(({ document, isExact }) => [document, isExact]).sort()).toEqual([
    ["a", false],
    ["c", true],
  ]);
  expect(words.find("CVE-2026-12345", 1, new Set(["d"]))).toEqual([]);
});

test("what comes and goes leaves nothing behind: the rest is found as if it were there alone", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), text, fc.boolean(), (steps, query, isOne) => {
      const words = new Words(2);
      const there = new Map<string, Given>();
      for (const { document, put: given, how } of steps) {
        if (given !== null && how !== "whole") stage(words, document, given);
        if (given !== null && how === "left") continue;
        words.remove(document);
        there.delete(document);
        if (given === null) continue;
        if (how === "parts") words.show(document);
        else put(words, document, given);
        there.set(document, given);
      }
      const alone = new Words();
      for (const [document, given] of there) put(alone, document, given);
      const only = isOne ? new Set(["a"]) : undefined;
      const scores = (of: Words) =>
        Object.fromEntries(of.find(query, 100, only).map((one) => [`${one.document} ${one.position}`, one.score]));
      const [found, expected] = [scores(words), scores(alone)];
      expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort());
      for (const [place, score] of Object.entries(expected)) expect(found[place]).toBeCloseTo(score, 8);
      for (const score of Object.values(found)) expect(score).toBeLessThanOrEqual(1);
    }),
    { numRuns: 300 },
  );
});

test("the best come first, and no more than are asked for", () => {
  const words = new Words();
  const passages = Array.from({ length: 50 }, (_, i) => ({ text: "log ".repeat(i + 1), headings: [] }));
  put(words, "a", { name: "", passages });
  const found = [...words.find("log", 3, undefined)].sort((a, b) => b.score - a.score);
  expect(found.map(({ position }) => position)).toEqual([49, 48, 47]);
});

test("what is joined is found by its parts and as a whole", () => {
  expect(tokensIn("See CVE-2024-3094, evil.example/x.").map(({ word }) => word)).toEqual([
    ...["see", "cve", "2024", "3094", "cve-2024-3094", "evil", "example", "x", "evil.example/x"],
  ]);
});

test("words are found in their other forms, in the language of the passage", () => {
  const words = filled({
    de: "Die Anwendungen und die Schwachstellen sind in dieser Liste, und das ist nicht alles.",
    es: "Las aplicaciones y las vulnerabilidades que se encuentran en la lista no son todas.",
    en: "The applications and the weaknesses that are in this list are not all there is.",
  });
  expect(foundIn(words, "Anwendung Schwachstelle")[0]).toBe("de");
  expect(foundIn(words, "aplicación vulnerabilidad")[0]).toBe("es");
  expect(foundIn(words, "weakness")[0]).toBe("en");
});

test("what is written without spaces is found by its words, and an identifier in it", () => {
  const words = filled({
    keys: "アプリの中に暗号鍵を埋め込むと、逆アセンブラで取り出されます。",
    logs: "ログに機密データを書き込むと、CVE-2024-3094の調査で漏れます。",
    thai: "การเข้ารหัสข้อมูลช่วยป้องกันการรั่วไหล",
  });
  expect(foundIn(words, "暗号鍵はなぜ危険か")[0]).toBe("keys");
  expect(foundIn(words, "機密データ")[0]).toBe("logs");
  expect(foundIn(words, "cve-2024-3094")[0]).toBe("logs");
  expect(foundIn(words, "ข้อมูล")[0]).toBe("thai");
});

test("a word that tells nothing decides nothing, unless there is no other", () => {
  const words = filled({ who: "Who is who and what is what in the house.", beacon: "A beacon calls home." });
  expect(foundIn(words, "what is the beacon")).toEqual(["beacon"]);
  expect(foundIn(words, "who")).toEqual(["who"]);
});

test("a word of a path does not make a question one of a language that nothing is written in", () => {
  const russian = filled({
    var: "Раздел /var содержит много файлов, и места для него нужно больше, чем вы думаете.",
    usr: "Раздел на диске для программ не содержит ничего, что вы изменили.",
    // So that Russian is what is written here.
    other: "Это не всё, что есть в системе, и для них этого мало.",
  });
  // "var" is among the commonest words of Swedish, "на" of Russian: one of each.
  expect(foundIn(russian, "раздел /var на")[0]).toBe("var");
  const english = filled({
    die: "The workers die of a signal when the master is gone, and they are not started again.",
    workers: "The workers of the master are started by the workers, and the master is not.",
  });
  expect(foundIn(english, "workers die")[0]).toBe("die");
  // Two such words are German, and tell nothing.
  expect(foundIn(english, "wo sind die master")[0]).toBe("workers");
});

test("a word as long as a document is read once", () => {
  const terms = (length: number): number => {
    const since = process.cpuUsage();
    expect(tokensIn("a".repeat(length)).length).toBeLessThanOrEqual(1);
    const { user, system } = process.cpuUsage(since);
    return user + system;
  };
  terms(1_000);
  // Looked at from each of its letters, as before, it took 35 s.
  expect(terms(500_000)).toBeLessThan(1_000_000);
});
