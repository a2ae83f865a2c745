import { isDeepStrictEqual } from "node:util";
import {
  type DescEnum,
  type DescField,
  type DescMessage,
  equals,
  fromJson,
  getOption,
  type JsonObject,
  type JsonValue,
  type Message,
  toJson,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { not_for_all, whole } from "#proto/mcp/v1/tool_pb.js";
import { compileDecode } from "../../../../../services/shared/tools/codec/decode.js";
import { compileEncode } from "../../../../../services/shared/tools/codec/encode.js";
import { wordOf } from "../../../../../services/shared/tools/enums.js";
import { readImage } from "../../../../../services/shared/tools/image.js";
import { anyMessage } from "../../../../facade/support/arbitrary-message.js";
import { FIXTURE_IMAGE } from "../../../../facade/support/start.js";

// Every message of the API and of the fixtures; those of protobuf itself and
// of its rules describe messages and are no tool's.

const registry = readImage(FIXTURE_IMAGE);
const messages = [...registry]
  .flatMap((desc) => (desc.kind === "message" ? [desc] : []))
  .filter(({ typeName }) => !typeName.startsWith("google.") && !typeName.startsWith("buf."));

describe.each(messages.map((desc) => [desc.typeName, desc] as const))("%s", (_name, desc) => {
  const decode = compileDecode(desc);
  const encode = compileEncode(desc);

  test("what is encoded decodes to the same, and the text is that of proto JSON with words", () => {
    fc.assert(
      fc.property(anyMessage(desc), (message) => {
        const text = encode(message);
        const json = JSON.parse(text) as JsonObject;
        expect(json).toEqual(reference(desc, message));
        const again = decode(json);
        if (!equals(desc, again, message)) expect(reference(desc, again)).toEqual(reference(desc, message));
      }),
      { numRuns: 15 },
    );
  });
});

/** What the library's own writer makes of a message, with enum values as words and without what is empty. */
function reference(desc: DescMessage, message: Message): JsonValue {
  const json = toJson(desc, message, { registry, useProtoFieldName: true, alwaysEmitImplicit: true });
  const [first] = desc.fields;
  return worded(desc, json as JsonObject, (field) => field === first, getOption(desc, whole));
}

function worded(
  desc: DescMessage,
  json: JsonObject,
  isSaid: (field: DescField) => boolean = () => false,
  isWhole = false,
): JsonObject {
  if (desc.typeName.startsWith("google.")) return json;
  const entries = desc.fields.flatMap((field): [string, JsonValue][] => {
    const value = json[field.name];
    if (value === undefined) return [];
    const one = (item: JsonValue): JsonValue | undefined => {
      if (field.enum !== undefined) return word(field.enum, item);
      const isWellKnown = field.message === undefined || field.message.typeName.startsWith("google.");
      const isOwn = isWhole && field.fieldKind === "message";
      const isShown = isOwn ? (inner: DescField) => !getOption(inner, not_for_all) : undefined;
      return isWellKnown ? item : worded(field.message as DescMessage, item as JsonObject, isShown);
    };
    const isEmpty = field.oneof === undefined && (value === "" || (isObject(value) && Object.keys(value).length === 0));
    if (isEmpty && field.fieldKind === "list" && isSaid(field)) return [[field.name, []]];
    if (isEmpty && field.fieldKind !== "message") return [];
    if (field.name === "updated_at" && field.message && isDeepStrictEqual(value, json.created_at)) return [];
    if (field.fieldKind === "list") {
      return [[field.name, (value as JsonValue[]).map(one).filter((item) => item !== undefined)]];
    }
    if (field.fieldKind === "map") {
      const mapped = Object.entries(value as JsonObject).map(([key, item]) => [key, one(item)] as const);
      return [[field.name, Object.fromEntries(mapped.filter(([, item]) => item !== undefined)) as JsonObject]];
    }
    const written = one(value);
    return written === undefined ? [] : [[field.name, written]];
  });
  return Object.fromEntries(entries);
}

const isObject = (value: JsonValue): value is JsonObject | JsonValue[] => typeof value === "object" && value !== null;

function word(desc: DescEnum, json: JsonValue): JsonValue | undefined {
  const value = desc.values.find((v) => v.name === json);
  return value === undefined ? json : wordOf(value);
}

test("what is empty and what was never changed is left out; what is zero or false is said", () => {
  const write = (typeName: string, json: JsonObject): unknown => {
    const desc = registry.getMessage(typeName) as DescMessage;
    return JSON.parse(compileEncode(desc)(fromJson(desc, json, { registry })));
  };
  const at = "2026-11-22T09:00:00.000000001Z";
  const control = { id: "1", name: "", description: "", created_at: at };
  expect(write("grc.v1.Control", { ...control, updated_at: at })).not.toHaveProperty("updated_at");
  expect(write("grc.v1.Control", { ...control, updated_at: "2026-11-22T09:00:00.000000002Z" })).toHaveProperty(
    "updated_at",
  );
  expect(write("grc.v1.Control", { id: "1", updated_at: at })).toHaveProperty("updated_at", at);
  expect(write("grc.v1.Control", control)).not.toHaveProperty("name");
  expect(write("grc.v1.Control", control)).not.toHaveProperty("controls");
  expect(write("grc.v1.ListControlsResponse", {})).toEqual({ controls: [], total_size: 0 });
  expect(write("core.v1.SearchKnowledgeResponse", {})).toEqual({ passages: [] });
  // Who may not manage it is not shown with whom it is shared, which is not the same as with nobody.
  expect(write("core.v1.GetPromptResponse", { prompt: {} })).toMatchObject({ prompt: { arguments: [], labels: [] } });
  expect(write("core.v1.GetPromptResponse", { prompt: {} })).not.toHaveProperty("prompt.sharing");
  expect(write("core.v1.ListPromptsResponse", { prompts: [{ id: "1" }] })).not.toHaveProperty("prompts.0.labels");
});

test("whatever is given as arguments is read or refused in words, and nothing else is thrown", () => {
  const decode = compileDecode(registry.getMessage("cti.fixture.v1.EchoSightingRequest") as DescMessage);
  const names = [
    "sighting",
    "word",
    "id",
    "severity",
    "seen_at",
    "lasted",
    "raw",
    "count",
    "payload",
    "by_sensor",
    "parts",
  ];
  const anything = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.jsonValue() as fc.Arbitrary<unknown>,
      fc.dictionary(fc.constantFrom(...names), tie("value"), { noNullPrototype: true }),
      fc.array(tie("value"), { maxLength: 3 }),
    ),
  })).value;
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), anything), (args) => {
      try {
        decode(args as JsonObject);
      } catch (error) {
        expect(error).toMatchObject({ name: "ConnectError", code: 3 });
      }
    }),
    { numRuns: 200 },
  );
});

test("a key of a map that would reach the prototype is refused", () => {
  const decode = compileDecode(registry.getMessage("cti.fixture.v1.Sighting") as DescMessage);
  expect(() => decode(JSON.parse('{"by_sensor":{"__proto__":"high"}}') as JsonObject)).toThrow(/cannot be a key/);
  expect(() => decode(JSON.parse('{"__proto__":{"id":"x"}}') as JsonObject)).toThrow(/unknown argument/);
});
