import { expect, test } from "vitest";
import { argumentsOf } from "../../../../services/core-objects/runs/tool-calls.js";

const call = (text: string) => ({ id: "c", name: "t", arguments: text });

test("arguments are taken as JSON, as JSON in JSON, and as nothing", () => {
  expect(argumentsOf(call('{"a":1}'))).toEqual({ a: 1 });
  expect(argumentsOf(call(JSON.stringify('{"a":1}')))).toEqual({ a: 1 });
  for (const none of ["", "null", JSON.stringify("null")]) expect(argumentsOf(call(none))).toEqual({});
});

test("JSON in JSON is bounded as JSON is", () => {
  const deep = `{"a":${"[".repeat(1_000)}${"]".repeat(1_000)}}`;
  for (const text of [deep, JSON.stringify(deep)])
    expect(() => argumentsOf(call(text))).toThrow(/the JSON of the arguments/);
  expect(() => argumentsOf(call(JSON.stringify(JSON.stringify("{}"))))).toThrow(/not a JSON object/);
});
