import fc from "fast-check";
import { expect, test } from "vitest";
import { ambiguityIn, ambiguityOf } from "../../../../services/shared/rpc/json-twice.js";
import { AMBIGUOUS, PLAIN } from "../../../vectors/json.js";

const of = (text: string) => ambiguityOf(text, JSON.parse(text));

test.each(AMBIGUOUS)("%s is refused", (text) => {
  expect(of(text)).toMatch(/twice|__proto__/);
  expect(ambiguityIn(text)).toBe(of(text));
});

test.each(PLAIN)("%s is not", (text) => {
  expect([of(text), ambiguityIn(text)]).toEqual([undefined, undefined]);
});

/** JSON as a tree in which an object may have a name twice, and whether one has. */
interface Tree {
  readonly text: string;
  readonly isTwice: boolean;
}

const names = fc.constantFrom("a", "b", "A", "a:", '":', "\\", "é", " ", "constructor");
/** A name as it may be written: some characters as escapes. */
const written = (name: string, escapes: boolean): string =>
  escapes
    ? `"${[...name].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")}"`
    : JSON.stringify(name);
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    fc
      .oneof(fc.string(), names, fc.integer(), fc.boolean())
      .map((value) => ({ text: JSON.stringify(value), isTwice: false })),
    fc.array(tie("tree"), { maxLength: 3 }).map((items) => ({
      text: `[${items.map(({ text }) => text).join(", ")}]`,
      isTwice: items.some(({ isTwice }) => isTwice),
    })),
    fc
      .array(fc.tuple(names, fc.boolean(), fc.constantFrom("", " ", "\n\t"), tie("tree")), { maxLength: 4 })
      .map((members) => ({
        text: `{${members.map(([name, escapes, space, { text }]) => `${written(name, escapes)}${space}:${space}${text}`).join(",")}}`,
        isTwice:
          new Set(members.map(([name]) => name)).size < members.length ||
          members.some(([, , , { isTwice }]) => isTwice),
      })),
  ),
}));

test("a name is found twice exactly where it is, whatever stands in strings", () => {
  fc.assert(
    fc.property(tree, ({ text, isTwice }) => {
      expect([text, of(text) !== undefined]).toEqual([text, isTwice]);
      expect(ambiguityIn(text) !== undefined).toBe(isTwice);
    }),
    { numRuns: 3_000 },
  );
});

test("a name after a long string is found, whatever quotes and backslashes the string has where its end is searched for", () => {
  const piece = fc.constantFrom("a".repeat(254), "a".repeat(255), "a".repeat(256), '"', "\\", '":', "{", "é");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.boolean(), (pieces, isTwice) => {
      const text = `{"a":${JSON.stringify(pieces.join(""))},"${isTwice ? "a" : "b"}":1}`;
      expect(ambiguityIn(text) !== undefined).toBe(isTwice);
    }),
    { numRuns: 2_000 },
  );
});

test("what may be a secret is not repeated", () => {
  const secret = "Bearer x".padEnd(60, "s");
  expect(of(`{"${secret}":1,"${secret}":2}`)).not.toContain("Bearer");
});
