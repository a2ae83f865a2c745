import {
  type DescEnum,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  type Registry,
  toJson,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { valueOfWord, wordOf } from "../services/shared/api/enums.js";

// A tool's JSON is proto JSON with three differences that suit a model: field
// names are those of the .proto file, enum values are words ("high"), and a
// result holds every field that has no presence, empty or not.

/**
 * Reads a tool's arguments into its request message.
 *
 * @throws ConnectError invalid_argument, in words the caller can act on.
 */
export function decode(message: DescMessage, args: JsonObject, registry: Registry): Message {
  try {
    return fromJson(message, mapEnums(message, args, nameOf), { registry });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConnectError(reason.replace(/^cannot decode message \S+ from JSON: (?=key )/, ""), Code.InvalidArgument);
  }
}

/** Writes a response message as a tool's result. */
export function encode(message: DescMessage, value: Message, registry: Registry): JsonObject {
  const json = toJson(message, value, { registry, useProtoFieldName: true, alwaysEmitImplicit: true });
  return mapEnums(message, json as JsonObject, (desc, name) => {
    const known = desc.values.find((v) => v.name === name);
    return known === undefined ? name : wordOf(known);
  });
}

function nameOf(desc: DescEnum, text: string): string {
  const value = valueOfWord(desc, text);
  if (value !== undefined) return value.name;
  const words = desc.values.map(wordOf).filter((w) => w !== undefined);
  throw new Error(`"${text}" is not one of ${words.join(", ")}`);
}

type MapEnum = (desc: DescEnum, text: string) => string | undefined;

/** Copies a message's JSON with the text of each enum value mapped, or left out for undefined. */
function mapEnums(message: DescMessage, json: JsonObject, map: MapEnum): JsonObject {
  const fields = new Map(message.fields.flatMap((f) => [[f.name, f] as const, [f.jsonName, f] as const]));
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(json)) {
    const field = fields.get(key);
    const mapped = field === undefined ? value : mapField(field, value, map);
    // Some clients send null for what they leave out, also beside a oneof's member.
    if (mapped === undefined || (mapped === null && field !== undefined)) continue;
    copy[key] = mapped;
  }
  return copy;
}

function mapField(field: DescField, given: JsonValue, map: MapEnum): JsonValue | undefined {
  const json = unquote(field, given);
  const one = (value: JsonValue): JsonValue | undefined => {
    if (field.enum !== undefined && typeof value === "string") return map(field.enum, value);
    if (field.message !== undefined && isObject(value) && !field.message.typeName.startsWith("google.protobuf.")) {
      return mapEnums(field.message, value, map);
    }
    return value;
  };
  if (field.fieldKind === "list" && Array.isArray(json)) return json.map(one).filter((v) => v !== undefined);
  if (field.fieldKind === "map" && isObject(json)) {
    const entries = Object.entries(json).map(([key, value]) => [key, one(value)] as const);
    return Object.fromEntries(entries.filter((e): e is [string, JsonValue] => e[1] !== undefined));
  }
  return one(json);
}

/** Models at times send an object or a list as its JSON text; reads it. */
function unquote(field: DescField, json: JsonValue): JsonValue {
  if (typeof json !== "string" || !/^\s*[[{]/.test(json)) return json;
  if (field.fieldKind === "scalar" || field.fieldKind === "enum") return json;
  try {
    return JSON.parse(json) as JsonValue;
  } catch {
    return json;
  }
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
