import { expect, test } from "vitest";
import { matchesWildcards } from "../../../services/sandbox/wildcards.js";

const LIKE = { any: "%", one: "_" };

test.each([
  ["", "", true],
  ["a", "", false],
  ["", "%", true],
  ["abc", "abc", true],
  ["abc", "ab", false],
  ["abc", "a%", true],
  ["abc", "%c", true],
  ["abc", "%b%", true],
  ["abc", "%%%", true],
  ["abc", "_b_", true],
  ["abc", "____", false],
  ["abc", "%_c", true],
  ["ab", "a%_b", false],
  ["aXbXc", "a%b_c", true],
  ["a", "a%a", false],
  ["a.c", "a.c", true],
  ["abc", "a.c", false],
  ["a\nb", "a%b", true],
])("%j like %j is %s", (text, pattern, matches) => {
  expect(matchesWildcards(text, pattern, LIKE)).toBe(matches);
});

test("what an expression matches is matched, for every short text and pattern", () => {
  const of = (letters: string, length: number): string[] =>
    length === 0 ? [""] : of(letters, length - 1).flatMap((text) => [text, ...[...letters].map((one) => text + one)]);
  const texts = [...new Set(of("ab", 4))];
  for (const pattern of new Set(of("a%_", 4))) {
    const expression = new RegExp(`^${pattern.replaceAll("%", ".*").replaceAll("_", ".")}$`, "s");
    for (const text of texts) {
      expect([text, pattern, matchesWildcards(text, pattern, LIKE)]).toEqual([text, pattern, expression.test(text)]);
    }
  }
});

test("the time does not grow with the number of wildcards", () => {
  const text = "a".repeat(2_000);
  for (const pattern of [`%${"a%".repeat(200)}!`, `${"%_a".repeat(200)}!`, `${"%".repeat(200)}!`]) {
    expect(matchesWildcards(text, pattern, LIKE)).toBe(false);
  }
}, 2_000);
