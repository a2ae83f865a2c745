import { type DescField, type DescMessage, fromBinary, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { emptyMessage } from "../message-from.js";
import { isCompiled, methodOf } from "./fields.js";

type Members = Record<string, unknown>;
/** Reads one field, whose tag was read, into a message. */
type ReadField = (reader: BinaryReader, message: Members, wire: WireType, depth: number) => void;
type Fields = ReadonlyMap<number, ReadField>;
type ReadValue = (reader: BinaryReader, depth: number) => unknown;

/** Messages inside messages, as in the library. */
const MAX_DEPTH = 100;

/**
 * The message of some bytes, as `fromBinary` of the library gives it.
 *
 * @throws Error for what is no such message.
 */
export function messageIn<D extends DescMessage>(desc: D, bytes: Uint8Array): MessageShape<D> {
  const fields = fieldsOf(desc);
  if (fields === undefined) return fromBinary(desc, bytes);
  const message = emptyMessage(desc);
  const isKnown = readAll(new BinaryReader(bytes), message as unknown as Members, fields, bytes.length, MAX_DEPTH);
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

class UnknownField extends Error {}

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
  if (depth <= 0) throw new Error("cannot decode message: maximum recursion depth reached");
  while (reader.pos < end) {
    const tag = reader.uint32();
    const read = fields.get(tag >>> 3);
    if (read === undefined || (tag & 7) > WireType.Bit32) throw UNKNOWN;
    read(reader, message, tag & 7, depth);
  }
}

const UNKNOWN = new UnknownField();

function readFieldOf(field: DescField): ReadField {
  const { localName, oneof } = field;
  if (field.fieldKind === "list") return readListOf(field);
  if (field.message !== undefined) return readMessageOf(field, field.message);
  const read = readScalarOf(field);
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
    const read = readInnerOf(field.message);
    return (reader, message, _wire, depth) => void (message[localName] as unknown[]).push(read(reader, depth));
  }
  const read = readScalarOf(field);
  const packs = scalar !== ScalarType.STRING && scalar !== ScalarType.BYTES;
  return (reader, message, wire) => {
    const list = message[localName] as unknown[];
    if (!packs || wire !== WireType.LengthDelimited) return void list.push(read(reader, 0));
    const end = reader.uint32() + reader.pos;
    while (reader.pos < end) list.push(read(reader, 0));
  };
}

function readScalarOf(field: DescField): ReadValue {
  const method = methodOf(field);
  if (method === "string") {
    const isStrict = "utf8Validation" in field && field.utf8Validation === true;
    return (reader) => reader.string(isStrict);
  }
  return (reader) => reader[method]();
}
