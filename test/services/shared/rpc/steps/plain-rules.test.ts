import {
  create,
  createFileRegistry,
  type DescField,
  type DescMessage,
  getOption,
  type Message,
  type MessageInitShape,
  ScalarType,
  setExtension,
} from "@bufbuild/protobuf";
import {
  FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { createValidator } from "@bufbuild/protovalidate";
import { FieldRulesSchema, field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CreateAgentRequestSchema } from "#proto/core/v1/agent_service_pb.js";
import { compilePlainRules } from "../../../../../services/shared/rpc/steps/plain-rules.js";
import { readImage } from "../../../../../services/shared/tools/image.js";

// What the comparisons pass, the library passes. Values are at the edges of the rules, one step to each side.

const validator = createValidator();
const inputs = new Map(
  [...readImage()].flatMap((desc) =>
    desc.kind === "service" ? desc.methods.map(({ input }) => [input.typeName, input] as const) : [],
  ),
);
const ID = "00000000-0000-4000-8000-00000000000f";
const SHORT = [
  "",
  "a",
  " ",
  "\n\v",
  "\u00a0",
  "\u2028x",
  "é",
  "\u{1f600}",
  ID,
  `${ID} `,
  ID.toUpperCase(),
  "https://example.org/a",
];

/** The numbers that the rules of a field name, as far as they are small enough to be lengths. */
function boundsOf(field: DescField): readonly number[] {
  const text = JSON.stringify(getOption(field, fieldRules).type, (_key, value) =>
    typeof value === "bigint" ? Number(value) : value,
  );
  return [...text.matchAll(/(?<=:)-?\d+(?=[,}\]])/g)].map(([bound]) => Number(bound));
}

/** The texts that a field takes, if its rules name them. */
function wordsOf(field: DescField): readonly string[] {
  const { type } = getOption(field, fieldRules);
  const rules = type.case === "repeated" ? type.value.items?.type : type;
  return rules?.case === "string" ? rules.value.in : [];
}

function textsAt(bound: number): readonly string[] {
  if (bound < 0 || bound > 5_000) return [];
  return [-1, 0, 1].flatMap((step) => {
    const n = Math.max(0, bound + step);
    return ["x".repeat(n), "\u{1f600}".repeat(n), "é".repeat(Math.ceil(n / 2)), "€".repeat(Math.ceil(n / 3))];
  });
}

function edgeOf(field: DescField, depth: number): fc.Arbitrary<unknown> {
  const bounds = boundsOf(field);
  if (field.message !== undefined) return edges(field.message, depth - 1);
  if (field.enum !== undefined) return fc.constantFrom(...field.enum.values.map(({ number }) => number), 99, -1);
  switch (field.scalar) {
    case ScalarType.STRING:
      return fc.constantFrom(...SHORT, ...wordsOf(field), ...bounds.flatMap(textsAt));
    case ScalarType.BYTES:
      return fc.constantFrom(...[0, 1, ...bounds].filter((n) => n >= 0).map((n) => new Uint8Array(Math.min(n, 9_999))));
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.INT64:
    case ScalarType.UINT64:
      return fc.constantFrom(...[0, ...bounds].flatMap((n) => [BigInt(n), BigInt(n) + 1n]));
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return fc.constantFrom(Number.NaN, Infinity, -0, ...[0, ...bounds].flatMap((n) => [n - 0.5, n, n + 0.5]));
    default:
      return fc.constantFrom(...[0, ...bounds].flatMap((n) => [n - 1, n, n + 1]));
  }
}

function fieldAt(field: DescField, depth: number): fc.Arbitrary<unknown> {
  if (field.fieldKind === "map") return fc.constant({});
  if (field.fieldKind !== "list") return edgeOf(field, depth);
  const item = edgeOf(field, depth);
  const full = boundsOf(field)
    .filter((n) => n >= 0 && n <= 500)
    .flatMap((n) => [item.map((value) => Array(n).fill(value)), item.map((value) => Array(n + 1).fill(value))]);
  return fc.oneof(fc.array(item, { maxLength: 3 }), ...full);
}

/** A message whose values are at the edges of its rules; most are left out, so that many messages are valid. */
function edges(desc: DescMessage, depth = 3): fc.Arbitrary<Message> {
  const members = desc.members.map((member) => {
    if (member.kind === "oneof") {
      const cases = member.fields.map((field) =>
        fieldAt(field, depth).map((value) => ({ case: field.localName, value })),
      );
      return fc.oneof(fc.constant({ case: undefined }), ...(depth > 0 ? cases : [])).map((v) => [member.localName, v]);
    }
    const required = getOption(member, fieldRules).required;
    const value = depth > 0 || member.message === undefined ? fieldAt(member, depth) : fc.constant(undefined);
    return fc.option(value, { nil: undefined, freq: required ? 9 : 3 }).map((v) => [member.localName, v]);
  });
  return fc.tuple(...members).map((entries) => {
    const given = entries.filter(([, value]) => value !== undefined);
    return create(desc, Object.fromEntries(given) as never);
  });
}

const asked = { valid: 0, passed: 0 };

describe.each([...inputs])("%s", (_name, desc) => {
  const keeps = compilePlainRules(desc);

  test("what the comparisons pass is valid", () => {
    fc.assert(
      fc.property(edges(desc), (message) => {
        const isValid = validator.validate(desc, message).kind === "valid";
        const isPassed = keeps(message);
        if (isPassed) expect(isValid).toBe(true);
        asked.valid += Number(isValid);
        asked.passed += Number(isPassed);
      }),
      { numRuns: 60 },
    );
  });
});

test("the comparisons were asked of many valid messages, and passed most", () => {
  expect(asked.valid).toBeGreaterThan(5_000);
  expect(asked.passed / asked.valid).toBeGreaterThan(0.5);
});

test("the requests of nearly all lists and of common writes need nothing but comparisons", () => {
  const firstPages = [...inputs.values()]
    .filter(({ name }) => name.startsWith("List"))
    .map((desc) => [desc, create(desc, { pageSize: 2 } as never)] as const)
    .filter(([desc, request]) => validator.validate(desc, request).kind === "valid");
  const plain = firstPages.filter(([desc, request]) => compilePlainRules(desc)(request));
  expect(firstPages.length).toBeGreaterThan(80);
  expect(plain.length / firstPages.length).toBeGreaterThan(0.9);
  const agent = { name: "Triage", description: "Sorts alerts.", instructions: "Sort." };
  expect(compilePlainRules(CreateAgentRequestSchema)(create(CreateAgentRequestSchema, agent))).toBe(true);
});

test.each([
  ["a text over its bound", { name: "x".repeat(100_000), description: "d", instructions: "i" }],
  ["what is required and missing", { description: "d", instructions: "i" }],
])("%s is not passed", (_what, request) => {
  expect(compilePlainRules(CreateAgentRequestSchema)(create(CreateAgentRequestSchema, request))).toBe(false);
});

/** A message that has messages of its own type: in a list, and one alone. */
function nodes(): DescMessage {
  const options = create(FieldOptionsSchema);
  setExtension(options, fieldRules, create(FieldRulesSchema, { type: { case: "string", value: { maxLen: 3n } } }));
  const field = (name: string, number: number, more: MessageInitShape<typeof FieldDescriptorProtoSchema>) =>
    create(FieldDescriptorProtoSchema, { name, number, label: Label.OPTIONAL, ...more });
  const node = { type: Type.MESSAGE, typeName: ".t.Node" };
  const file = create(FileDescriptorProtoSchema, {
    name: "t.proto",
    package: "t",
    syntax: "proto3",
    messageType: [
      {
        name: "Node",
        field: [
          field("name", 1, { type: Type.STRING, options }),
          field("parts", 2, { ...node, label: Label.REPEATED }),
          field("next", 3, node),
        ],
      },
    ],
  });
  return createFileRegistry(file, () => undefined).getMessage("t.Node") as DescMessage;
}

test("a message that contains itself is compared as deep as it goes", () => {
  const desc = nodes();
  const keeps = compilePlainRules(desc);
  const node = (name: string, more: object = {}): Message => create(desc, { name, ...more } as never);
  const whole = node("a", { parts: [node("b"), node("c", { next: node("d", { parts: [node("e")] }) })] });
  expect(keeps(whole)).toBe(true);
  const broken = node("a", { parts: [node("b"), node("c", { next: node("d", { parts: [node("long")] }) })] });
  expect(validator.validate(desc, broken).kind).toBe("invalid");
  expect(keeps(broken)).toBe(false);
});
