import fc from "fast-check";
import MiniSearch from "minisearch";
import { expect, test } from "vitest";
import { termOf, termsIn } from "../../../../services/core-objects/knowledge/apart/terms.js";
import { Words } from "../../../../services/core-objects/knowledge/apart/words.js";

// Held to MiniSearch, which ranked before.

const VOCABULARY = "beacon beacons lateral CVE-2024-3094 T1059.001 domain c2 198.51.100.7 the and logs log".split(" ");
const text = fc.array(fc.constantFrom(...VOCABULARY), { maxLength: 12 }).map((words) => words.join(" "));
const passages = fc.array(fc.record({ text, headings: fc.array(text, { maxLength: 2 }) }), {
  minLength: 1,
  maxLength: 5,
});
const written = fc.record({ name: text, passages });
const step = fc.record({ document: fc.constantFrom("a", "b", "c", "d"), put: fc.option(written, { freq: 3 }) });

/** As it was asked before. */
function miniSearch() {
  return new MiniSearch({
    fields: ["text", "headings", "name"],
    tokenize: termsIn,
    processTerm: termOf,
    searchOptions: { boost: { headings: 1.5, name: 1.5 } },
  });
}

test("words find what MiniSearch finds, with the same scores, whatever comes and goes", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), text, fc.boolean(), (steps, query, isOne) => {
      const words = new Words(2);
      const there = new Map<string, NonNullable<(typeof steps)[number]["put"]>>();
      for (const { document, put } of steps) {
        words.remove(document);
        there.delete(document);
        if (put === null) continue;
        words.put(document, put);
        there.set(document, put);
      }
      // Anew, since MiniSearch counts what is gone until it comes upon it.
      const model = miniSearch();
      for (const [document, { name, passages }] of there)
        for (const [i, { text, headings }] of passages.entries())
          model.add({ id: `${document} ${i}`, text, headings: headings.join(" "), name });
      const only = isOne ? new Set(["a"]) : undefined;
      const found = words.find(query, 100, only).map((one) => [`${one.document} ${one.position}`, one.score] as const);
      const expected = model.search(query).filter(({ id }) => only === undefined || id.startsWith("a "));
      expect(found.map(([id]) => id).sort()).toEqual(expected.map(({ id }) => id as string).sort());
      const scores = new Map(found);
      for (const { id, score } of expected) expect(scores.get(id)).toBeCloseTo(score, 8);
    }),
    { numRuns: 300 },
  );
});

test("the best come first, and no more than are asked for", () => {
  const words = new Words();
  const passages = Array.from({ length: 50 }, (_, i) => ({ text: "log ".repeat(i + 1), headings: [] }));
  words.put("a", { name: "", passages });
  expect(words.find("log", 3, undefined).map(({ position }) => position)).toEqual([49, 48, 47]);
});

test("what is joined is found by its parts and as a whole", () => {
  expect(termsIn("See CVE-2024-3094, evil.example/x.")).toEqual([
    ...["See", "CVE", "2024", "3094", "CVE-2024-3094", "evil", "example", "x", "evil.example/x"],
  ]);
});

test("a word as long as a document is read once", () => {
  const terms = (length: number): number => {
    const since = process.cpuUsage();
    expect(termsIn("a".repeat(length))).toHaveLength(1);
    const { user, system } = process.cpuUsage(since);
    return user + system;
  };
  terms(1_000);
  // Looked at from each of its letters, as before, it took 35 s.
  expect(terms(500_000)).toBeLessThan(1_000_000);
});
