import { type DescField, type DescMessage, fromBinary, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { type BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { emptyMessage } from "../message-from.js";
import { isCompiled, isJson, methodOf, scalarOf, wireOf } from "./fields.js";
import { PROTOTYPE, readJson } from "./json.js";
import { checkDepth, MAX_DEPTH, UNKNOWN, UnknownField } from "./read-limits.js";
import { Reader } from "./reader.js";

type Members = Record<string, unknown>;
/** Reads one field, whose tag was read, into a message. */
type ReadField = (reader: BinaryReader, message: Members, wire: WireType, depth: number) => void;
type Fields = ReadonlyMap<number, ReadField>;
type ReadValue = (reader: BinaryReader, depth: number) => unknown;

/**
 * The message of some bytes, as `fromBinary` of the library gives it.
 *
 * @throws Error for what is no such message.
 */
export function messageIn<D extends DescMessage>(desc: D, bytes: Uint8Array): MessageShape<D> {
  const fields = fieldsOf(desc);
  if (fields === undefined) return fromBinary(desc, bytes);
  const message = emptyMessage(desc);
  const isKnown = readAll(new Reader(bytes), message as unknown as Members, fields, bytes.length, MAX_DEPTH);
  // The library keeps what it does not know.
  return isKnown ? message : fromBinary(desc, bytes);
}

const compiled = new WeakMap<DescMessage, Fields | undefined>();

function fieldsOf(desc: DescMessage): Fields | undefined {
  if (!compiled.has(desc)) {
    const fields = isCompiled(desc)
      ? new Map(desc.fields.map((field) => [field.number, readFieldOf(field)]))
      : undefined;
    compiled.set(desc, fields);
  }
  return compiled.get(desc);
}

function readAll(reader: BinaryReader, message: Members, fields: Fields, end: number, depth: number): boolean {
  try {
    readFields(reader, message, fields, end, depth);
    return true;
  } catch (error) {
    if (error instanceof UnknownField) return false;
    throw error;
  }
}

function readFields(reader: BinaryReader, message: Members, fields: Fields, end: number, depth: number): void {
  checkDepth(depth);
  while (reader.pos < end) {
    const tag = reader.uint32();
    const read = fields.get(tag >>> 3);
    if (read === undefined || (tag & 7) > WireType.Bit32) throw UNKNOWN;
    read(reader, message, tag & 7, depth);
  }
}

function readFieldOf(field: DescField): ReadField {
  const { localName, oneof } = field;
  if (field.fieldKind === "list") return readListOf(field);
  if (field.fieldKind === "map") return readMapOf(field);
  if (isJson(field)) return readJsonOf(field);
  if (field.message !== undefined) return readMessageOf(field, field.message);
  const read = readScalarOf(scalarOf(field), field);
  if (oneof === undefined) {
    return (reader, message) => {
      message[localName] = read(reader, 0);
    };
  }
  return (reader, message) => {
    message[oneof.localName] = { case: localName, value: read(reader, 0) };
  };
}

/** A message that comes twice is merged (protobuf encoding, "Last One Wins"). */
function readMessageOf({ localName, oneof }: DescField, desc: DescMessage): ReadField {
  const readInto = readInnerOf(desc);
  if (oneof === undefined) {
    return (reader, message, _wire, depth) => {
      message[localName] = readInto(reader, depth, message[localName] as Members | undefined);
    };
  }
  return (reader, message, _wire, depth) => {
    const chosen = message[oneof.localName] as { readonly case?: string; readonly value?: Members };
    const before = chosen.case === localName ? chosen.value : undefined;
    message[oneof.localName] = { case: localName, value: readInto(reader, depth, before) };
  };
}

/** The library makes one of two. */
function readJsonOf({ localName, oneof }: DescField): ReadField {
  if (oneof === undefined) {
    return (reader, message, _wire, depth) => {
      if (message[localName] !== undefined) throw UNKNOWN;
      message[localName] = readJson(reader, depth - 1);
    };
  }
  return (reader, message, _wire, depth) => {
    if ((message[oneof.localName] as { readonly case?: string }).case === localName) throw UNKNOWN;
    message[oneof.localName] = { case: localName, value: readJson(reader, depth - 1) };
  };
}

function readInnerOf(desc: DescMessage): (reader: BinaryReader, depth: number, before?: Members) => Members {
  let fields: Fields | undefined;
  return (reader, depth, before = emptyMessage(desc) as unknown as Members) => {
    // Made when it is first needed: messages may contain themselves.
    fields ??= fieldsOf(desc) as Fields;
    const end = reader.uint32() + reader.pos;
    readFields(reader, before, fields, end, depth - 1);
    return before;
  };
}

function readListOf(field: DescField & { readonly fieldKind: "list" }): ReadField {
  const { localName, scalar } = field;
  if (field.listKind === "message") {
    const read = readHeldOf(field, field.message);
    return (reader, message, _wire, depth) => void (message[localName] as unknown[]).push(read(reader, depth));
  }
  const read = readScalarOf(scalarOf(field), field);
  const packs = scalar !== ScalarType.STRING && scalar !== ScalarType.BYTES;
  return (reader, message, wire) => {
    const list = message[localName] as unknown[];
    if (!packs || wire !== WireType.LengthDelimited) return void list.push(read(reader, 0));
    const end = reader.uint32() + reader.pos;
    while (reader.pos < end) list.push(read(reader, 0));
  };
}

/** A map is a list of entries, each with a key and a value; an entry without one is left to the library. */
function readMapOf(field: DescField & { readonly fieldKind: "map" }): ReadField {
  const { localName, mapKey, message: desc } = field;
  const readKey = readScalarOf(mapKey, field);
  const readValue = desc === undefined ? readScalarOf(scalarOf(field), field) : readHeldOf(field, desc);
  const keyTag = (1 << 3) | wireOf(mapKey);
  const valueTag = (2 << 3) | (desc === undefined ? wireOf(scalarOf(field)) : WireType.LengthDelimited);
  return (reader, message, _wire, depth) => {
    const end = reader.uint32() + reader.pos;
    let key: unknown;
    let value: unknown;
    while (reader.pos < end) {
      const tag = reader.uint32();
      if (tag === keyTag) key = readKey(reader, depth);
      else if (tag === valueTag) value = readValue(reader, depth);
      else throw UNKNOWN;
    }
    if (key === undefined || value === undefined) throw UNKNOWN;
    if (key !== PROTOTYPE) (message[localName] as Members)[String(key)] = value;
  };
}

/** What a list or a map holds. */
function readHeldOf(field: DescField, desc: DescMessage): ReadValue {
  return isJson(field) ? (reader, depth) => readJson(reader, depth - 1) : readInnerOf(desc);
}

function readScalarOf(scalar: ScalarType, field: DescField): ReadValue {
  const method = methodOf(scalar);
  if (method === "string") {
    const isStrict = "utf8Validation" in field && field.utf8Validation === true;
    return (reader) => reader.string(isStrict);
  }
  return (reader) => reader[method]();
}
