import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { checkDepth, UNKNOWN } from "./read-limits.js";
import type { Writer } from "./writer.js";

// google.protobuf.Struct, Value and ListValue, which a field holds as JSON (google/protobuf/struct.proto).

/** A member of this name would set the prototype of an object: it is left out, as by the library. */
export const PROTOTYPE = "__proto__";

const { LengthDelimited, Varint, Bit64 } = WireType;
const tagOf = (number: number, wire: WireType): number => (number << 3) | wire;
const TAG = {
  /** Of a Struct, each with a key and a value. */
  field: tagOf(1, LengthDelimited),
  key: tagOf(1, LengthDelimited),
  value: tagOf(2, LengthDelimited),
  /** Of a Value, one of these. */
  null: tagOf(1, Varint),
  number: tagOf(2, Bit64),
  string: tagOf(3, LengthDelimited),
  bool: tagOf(4, Varint),
  struct: tagOf(5, LengthDelimited),
  list: tagOf(6, LengthDelimited),
  /** Of a ListValue. */
  item: tagOf(1, LengthDelimited),
} as const;

/** Writes the fields of a Struct. */
export function writeJson(writer: Writer, json: object): void {
  for (const [key, value] of Object.entries(json)) {
    if (key === PROTOTYPE) continue;
    const entry = begin(writer, TAG.field);
    writer.uint32(TAG.key);
    writer.string(key);
    writeIn(writer, TAG.value, value);
    writer.join(entry);
  }
}

function begin(writer: Writer, tag: number): number {
  writer.uint32(tag);
  return writer.fork();
}

function writeIn(writer: Writer, tag: number, value: unknown): void {
  const start = begin(writer, tag);
  writeValue(writer, value);
  writer.join(start);
}

/** What JSON does not have is a Value of no kind. */
function writeValue(writer: Writer, value: unknown): void {
  if (typeof value === "string") {
    writer.uint32(TAG.string);
    writer.string(value);
  } else if (typeof value === "number") {
    writer.uint32(TAG.number);
    writer.double(value);
  } else if (typeof value === "boolean") {
    writer.uint32(TAG.bool);
    writer.bool(value);
  } else if (value === null) {
    writer.uint32(TAG.null);
    writer.uint32(0);
  } else if (Array.isArray(value)) {
    const start = begin(writer, TAG.list);
    for (const one of value) writeIn(writer, TAG.item, one);
    writer.join(start);
  } else if (typeof value === "object") {
    const start = begin(writer, TAG.struct);
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
    if (reader.uint32() !== TAG.field) throw UNKNOWN;
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
    if (reader.uint32() !== TAG.item) throw UNKNOWN;
    list.push(readValue(reader, depth - 1));
  }
  return list;
}
