import fc from "fast-check";
import { expect, test } from "vitest";
import { excessOf, JsonShape, MAX_JSON_DEPTH, MAX_JSON_ELEMENTS } from "../../../../services/shared/rpc/json-shape.js";

const PADDING = " ".repeat(3_000);
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth) + PADDING;

test("depth and number are bounded, at the bound and not before", () => {
  expect(excessOf(nested(MAX_JSON_DEPTH))).toBe(undefined);
  expect(excessOf(nested(MAX_JSON_DEPTH + 1))).toContain("deeper");
  expect(excessOf("[".repeat(2_000_000))).toContain("deeper");
  expect(excessOf(`[${"1,".repeat(MAX_JSON_ELEMENTS - 1)}1]`)).toBe(undefined);
  expect(excessOf(`[${"1,".repeat(MAX_JSON_ELEMENTS)}1]`)).toContain("more than");
});

test("what stands in a text is text", () => {
  const text = '[[[["{,'.repeat(MAX_JSON_ELEMENTS);
  expect(excessOf(JSON.stringify({ text, after: `\\"${text}\\\\` }))).toBe(undefined);
});

test("any JSON within the bounds passes, and what is cut off ends", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 20 }), fc.nat(4_000), (json, cut) => {
      expect(excessOf(json + PADDING)).toBe(undefined);
      expect(excessOf((json + PADDING).slice(0, cut))).toBe(undefined);
    }),
    { numRuns: 300, seed: 8 },
  );
});

test("a string ends where it ends, however long it is and whatever is escaped in it", () => {
  const part = fc.oneof(
    fc.constantFrom('\\"', "\\\\", "\\\\\\", "\\n", "[", ","),
    fc.nat(600).map((n) => "a".repeat(n)),
  );
  const json = fc.array(
    fc.array(part, { maxLength: 12 }).map((parts) => `"${parts.join("")}"`),
    { maxLength: 5 },
  );
  fc.assert(
    fc.property(json, fc.nat(5), fc.nat(4_000), (strings, most, cut) => {
      const bytes = Buffer.from(`[${strings.join(",")}]`);
      const [first, second] = [bytes.subarray(0, cut), bytes.subarray(cut)];
      const shape = new JsonShape(most);
      expect(shape.push(first) ?? shape.push(second)).toBe(excessByBytes(bytes, most));
    }),
    { numRuns: 2_000, seed: 8 },
  );
});

/** The same, a byte at a time. */
function excessByBytes(bytes: Uint8Array, most: number): string | undefined {
  const [marks, quote, backslash] = [Buffer.from("[,"), 34, 92];
  let elements = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i++) {
    if (inString && bytes[i] === backslash) i++;
    else if (bytes[i] === quote) inString = !inString;
    else if (!inString && marks.includes(bytes[i]!)) {
      elements++;
      if (elements > most && bytes[i] === marks[1]) return "too many";
    }
  }
  return undefined;
}

test("in pieces it is what it is as a whole, wherever it is cut", () => {
  const text = fc.oneof(fc.json({ maxDepth: 20 }), fc.stringMatching(/^["\\\\[\]{},a]{0,200}$/));
  fc.assert(
    fc.property(text, fc.array(fc.nat(200), { maxLength: 6 }), fc.nat(30), (json, cuts, most) => {
      const bytes = Buffer.from(json);
      const ends = [...cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length];
      const shape = new JsonShape(most);
      let begin = 0;
      let found: string | undefined;
      for (const end of ends) {
        found ??= shape.push(bytes.subarray(begin, end));
        begin = end;
      }
      expect(found).toBe(new JsonShape(most).push(bytes));
    }),
    { numRuns: 1_000, seed: 8 },
  );
});
