import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { checkDepth, UNKNOWN } from "./read-limits.js";
import type { Writer } from "./writer.js";

// google.protobuf.Struct, Value and ListValue, which a field holds as JSON (google/protobuf/struct.proto).

/** The prototype is none of the members, also if somebody names one so. */
export const PROTOTYPE = "__proto__";

/** Numbers of their fields. */
const FIELDS = 1;
const [KEY, VALUE] = [1, 2];
const KIND = { null: 1, number: 2, string: 3, bool: 4, struct: 5, list: 6 } as const;
const VALUES = 1;

const { LengthDelimited, Varint, Bit64 } = WireType;
const tagOf = (number: number, wire: WireType): number => (number << 3) | wire;
const TAG = {
  fields: tagOf(FIELDS, LengthDelimited),
  key: tagOf(KEY, LengthDelimited),
  value: tagOf(VALUE, LengthDelimited),
  values: tagOf(VALUES, LengthDelimited),
  null: tagOf(KIND.null, Varint),
  number: tagOf(KIND.number, Bit64),
  string: tagOf(KIND.string, LengthDelimited),
  bool: tagOf(KIND.bool, Varint),
  struct: tagOf(KIND.struct, LengthDelimited),
  list: tagOf(KIND.list, LengthDelimited),
} as const;

/** Writes the fields of a Struct. */
export function writeJson(writer: Writer, json: object): void {
  for (const [key, value] of Object.entries(json)) {
    if (key === PROTOTYPE) continue;
    const entry = begin(writer, FIELDS);
    writer.tag(KEY, LengthDelimited);
    writer.string(key);
    writeIn(writer, VALUE, value);
    writer.join(entry);
  }
}

function begin(writer: Writer, number: number): number {
  writer.tag(number, LengthDelimited);
  return writer.fork();
}

function writeIn(writer: Writer, number: number, value: unknown): void {
  const start = begin(writer, number);
  writeValue(writer, value);
  writer.join(start);
}

/** What JSON does not have is a Value of no kind. */
function writeValue(writer: Writer, value: unknown): void {
  if (typeof value === "string") {
    writer.tag(KIND.string, LengthDelimited);
    writer.string(value);
  } else if (typeof value === "number") {
    writer.tag(KIND.number, Bit64);
    writer.double(value);
  } else if (typeof value === "boolean") {
    writer.tag(KIND.bool, Varint);
    writer.bool(value);
  } else if (value === null) {
    writer.tag(KIND.null, Varint);
    writer.uint32(0);
  } else if (Array.isArray(value)) {
    const start = begin(writer, KIND.list);
    for (const one of value) writeIn(writer, VALUES, one);
    writer.join(start);
  } else if (typeof value === "object") {
    const start = begin(writer, KIND.struct);
    writeJson(writer, value);
    writer.join(start);
  }
}

/** Reads a Struct, from its length on. What is written in another way than {@link writeJson} does is left to the library. */
export function readJson(reader: BinaryReader, depth: number): JsonObject {
  checkDepth(depth);
  const json: JsonObject = {};
  const end = reader.uint32() + reader.pos;
  while (reader.pos < end) {
    if (reader.uint32() !== TAG.fields) throw UNKNOWN;
    const entryEnd = reader.uint32() + reader.pos;
    let key = "";
    let value: JsonValue = null;
    while (reader.pos < entryEnd) {
      const tag = reader.uint32();
      if (tag === TAG.key) key = reader.string(true);
      else if (tag === TAG.value) value = readValue(reader, depth - 1);
      else throw UNKNOWN;
    }
    if (key !== PROTOTYPE) json[key] = value;
  }
  return json;
}

function readValue(reader: BinaryReader, depth: number): JsonValue {
  checkDepth(depth);
  const end = reader.uint32() + reader.pos;
  let value: JsonValue | undefined;
  while (reader.pos < end) {
    // Of two that are messages the library makes one.
    if (value !== undefined) throw UNKNOWN;
    value = readKind(reader, reader.uint32(), depth);
  }
  return value ?? null;
}

function readKind(reader: BinaryReader, tag: number, depth: number): JsonValue {
  switch (tag) {
    case TAG.null:
      reader.int32();
      return null;
    case TAG.number:
      return reader.double();
    case TAG.string:
      return reader.string(true);
    case TAG.bool:
      return reader.bool();
    case TAG.struct:
      return readJson(reader, depth - 1);
    case TAG.list:
      return readList(reader, depth - 1);
    default:
      throw UNKNOWN;
  }
}

function readList(reader: BinaryReader, depth: number): JsonValue[] {
  checkDepth(depth);
  const list: JsonValue[] = [];
  const end = reader.uint32() + reader.pos;
  while (reader.pos < end) {
    if (reader.uint32() !== TAG.values) throw UNKNOWN;
    list.push(readValue(reader, depth - 1));
  }
  return list;
}
