import { create, type DescField, type DescMessage, type DescMethod, getOption } from "@bufbuild/protobuf";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { form } from "#proto/mcp/v1/tool_pb.js";
import { checkRules } from "../../services/shared/rpc/steps/rules.js";
import { explain } from "../../services/shared/tools/explain.js";
import { readImage } from "../../services/shared/tools/image.js";

// A rule that is a regular expression is refused in words: neither a model nor
// a person is shown the expression.

interface Patterned {
  readonly field: DescField;
  readonly pattern: string;
}

function patternOf(field: DescField): string {
  const { type } = getOption(field, fieldRules);
  const inner = type.case === "repeated" ? type.value.items?.type : type;
  return inner?.case === "string" ? inner.value.pattern : "";
}

/** Every field with a pattern in what the rpcs of an API are asked. */
function patterned(messages: Iterable<DescMessage>, seen = new Set<string>()): Patterned[] {
  return [...messages].flatMap((message) => {
    if (seen.has(message.typeName)) return [];
    seen.add(message.typeName);
    const inner = message.fields.flatMap((field) => (field.message === undefined ? [] : [field.message]));
    const own = message.fields.map((field) => ({ field, pattern: patternOf(field) }));
    return [...own.filter(({ pattern }) => pattern !== ""), ...patterned(inner, seen)];
  });
}

const all = patterned(
  [...readImage()].flatMap((desc) => (desc.kind === "service" ? desc.methods.map(({ input }) => input) : [])),
);

function refusalOf({ parent, localName, fieldKind }: DescField): ConnectError {
  const desc = { name: "test", input: parent } as DescMethod;
  try {
    checkRules(desc, create(parent, { [localName]: fieldKind === "list" ? [" "] : " " }));
  } catch (error) {
    return error as ConnectError;
  }
  throw new Error("nothing was refused");
}

test("there are such rules", () => {
  expect(all.length).toBeGreaterThan(12);
});

test.each(all.map((one) => [String(one.field), one] as const))(
  "%s is refused in words",
  (_name, { field, pattern }) => {
    const error = refusalOf(field);
    const words = getOption(field, form);
    const path = `${field.name}${field.fieldKind === "list" ? "[0]" : ""}`;
    expect(words).toMatch(/\w/);
    expect(explain(error)?.split("\n")).toContain(`${path}: must be ${words}`);
    for (const said of [explain(error), error.rawMessage]) {
      expect(said).not.toContain(pattern);
      expect(said).not.toMatch(/regex|\^/);
    }
  },
);

test("a pattern means in a client's JSON Schema what it means here", () => {
  for (const { pattern } of all) {
    // POSIX classes are RE2's, and something else in ECMA-262.
    expect(pattern).not.toContain("[:");
    expect(() => new RegExp(pattern, "u")).not.toThrow();
  }
});

test("the rest of what is broken is told beside it", () => {
  const hashes = all.find(({ field }) => field.name === "md5")?.field as DescField;
  const desc = { name: "test", input: hashes.parent } as DescMethod;
  const check = () => checkRules(desc, create(hashes.parent, { md5: "x", sha1: "y" }));
  expect(check).toThrow("md5: must be 32 hexadecimal digits; sha1: must be 40 hexadecimal digits");
});
