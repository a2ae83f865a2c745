import fc from "fast-check";
import { expect, test } from "vitest";
import { checkJson, JsonMeter } from "../../../../services/shared/isolation/json-bounds.js";

const BOUNDS = { bytes: 10_000, depth: 4, nodes: 20 };
const WIDE = { bytes: 2 ** 30, depth: 2 ** 30, nodes: 2 ** 30 };

test.each([
  ["the depth of lists", "[".repeat(5), "nested deeper than 4 levels"],
  ["the depth of objects", '{"a":'.repeat(5), "nested deeper than 4 levels"],
  ["the number of values", `[${"1,".repeat(20)}1]`, "more than 20 values"],
  ["the length", `"${"a".repeat(10_000)}"`, "longer than"],
])("%s is bounded", (_what, text, words) => {
  expect(() => checkJson(text, BOUNDS)).toThrow(words);
});

test("what is within a text counts as one", () => {
  checkJson(JSON.stringify(["[[[[[[[[", '{"\\"', ",,,,,,,,,,,,,,,,,,,,,,,,,,,,"]), BOUNDS);
  expect(() => checkJson('"\\\\",[[[[[', BOUNDS)).toThrow("nested");
});

test("an event of a stream that leaves a text open hides nothing of the next one", () => {
  const meter = new JsonMeter(BOUNDS);
  meter.add(Buffer.from('data: "open\n\n'));
  expect(() => meter.add(Buffer.from(`data: ${"[".repeat(5)}`))).toThrow("nested");
});

test("it is as deep as it is parsed, in whatever pieces it comes", () => {
  const depthOf = (value: unknown): number =>
    typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 1, max: 9 }), (value, size) => {
      const [bytes, depth] = [Buffer.from(JSON.stringify(value)), depthOf(value)];
      const read = (most: number): void => {
        const meter = new JsonMeter({ ...WIDE, depth: most });
        for (let at = 0; at < bytes.length; at += size) meter.add(bytes.subarray(at, at + size));
      };
      read(depth);
      if (depth > 0) expect(() => read(depth - 1)).toThrow("nested");
    }),
  );
});
