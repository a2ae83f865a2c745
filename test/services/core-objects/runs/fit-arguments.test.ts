import type { JsonObject } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { fitArguments } from "../../../../services/core-objects/runs/tools/fit-arguments.js";

// What a person declares of a custom tool's arguments is what is sent: in its types, or not at all.

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    host: { type: "string", minLength: 2, maxLength: 5, pattern: "^[a-z]+$" },
    days: { type: "integer", minimum: 1, maximum: 30 },
    share: { type: "number", exclusiveMinimum: 0, multipleOf: 0.1 },
    deep: { type: "boolean" },
    level: { type: "string", enum: ["low", "high"] },
    code: { type: "integer", enum: [1, 2] },
    names: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 2, uniqueItems: true },
    range: {
      type: "object",
      properties: { from: { type: "integer" }, to: { type: "integer" } },
      required: ["from"],
    },
    any: { type: "object", additionalProperties: true },
  },
};
const fitted = (args: JsonObject) => fitArguments(JSON.stringify(SCHEMA), args).args;

test("what is of its type is sent as it is", () => {
  const args = {
    ...{ host: "web", days: 3, share: 0.3, deep: false, level: "low", code: 2, names: ["a", "b"] },
    ...{ range: { from: 1, to: 2 }, any: { x: [1] } },
  };
  expect(fitted(args)).toEqual(args);
});

test.each<[JsonObject, JsonObject]>([
  [{ days: "7" }, { days: 7 }],
  [{ share: "0.5" }, { share: 0.5 }],
  [{ deep: "true" }, { deep: true }],
  [{ host: 404 }, { host: "404" }],
  [{ code: "1" }, { code: 1 }],
  [{ names: '["a"]' }, { names: ["a"] }],
  [{ range: '{"from":"3"}' }, { range: { from: 3 } }],
  [{ days: null, deep: true }, { deep: true }],
])("%j can only mean one thing, and is sent as %j", (given, sent) => {
  expect(fitted(given)).toEqual(sent);
});

test.each<[JsonObject, string]>([
  [{ days: "seven" }, 'days: must be an integer, not "seven"'],
  [{ days: 1.5 }, "days: must be an integer, not 1.5"],
  [{ days: 0 }, "days: must be at least 1, not 0"],
  [{ days: "31" }, 'days: must be at most 30, not "31"'],
  [{ days: "9999999999999999999" }, 'days: must be an integer, not "9999999999999999999"'],
  [{ share: 0 }, "share: must be more than 0, not 0"],
  [{ share: 0.25 }, "share: must be a multiple of 0.1, not 0.25"],
  [{ deep: "yes" }, 'deep: must be true or false, not "yes"'],
  [{ deep: 1 }, "deep: must be true or false, not 1"],
  [{ level: "middle" }, 'level: must be one of "low", "high", not "middle"'],
  [{ code: 3 }, "code: must be one of 1, 2, not 3"],
  [{ host: "x" }, "host: must have at least 2 characters"],
  [{ host: "abcdef" }, "host: must have at most 5 characters"],
  [{ host: ["a"] }, 'host: must be a string, not ["a"]'],
  [{ names: "a" }, 'names: must be a list, not "a"'],
  [{ names: [] }, "names: must have at least 1 items"],
  [{ names: ["a", "a"] }, "names: must not have the same item twice"],
  [{ names: [{}] }, "names[0]: must be a string, not {}"],
  [{ range: {} }, "the argument range.from is missing"],
  [{ range: { from: 1, on: 2 } }, "unknown argument range.on: known arguments are from, to"],
  [{ colour: "red" }, `unknown argument colour: known arguments are ${Object.keys(SCHEMA.properties!).join(", ")}`],
])("%j is refused: %s", (given, said) => {
  expect(() => fitted(given)).toThrow(said);
});

test("a pattern is matched elsewhere: here it is only named", () => {
  expect(fitArguments(JSON.stringify(SCHEMA), { host: "WEB" }).matches).toEqual([
    { path: "host", pattern: "^[a-z]+$", text: "WEB" },
  ]);
});

test("a text that is an object of great depth is refused in words", () => {
  const deep = `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
  expect(() => fitted({ any: deep })).toThrow(/^\[invalid_argument\] any: must be an object, not "\{/);
});
