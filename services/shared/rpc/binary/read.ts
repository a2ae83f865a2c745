import { type DescField, type DescMessage, fromBinary, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { emptyMessage } from "../message-from.js";
import { isCompiled, isJson, methodOf, scalarOf, wireOf } from "./fields.js";
import { PROTOTYPE, readJson } from "./json.js";
import { checkDepth, MAX_DEPTH, UNKNOWN, UnknownField } from "./read-limits.js";
import { Reader } from "./reader.js";

// As messages are written (write.ts), each message type has a function of its own that reads it.

type Members = Record<string, unknown>;
/** Reads fields into a message, up to an end. */
type Read = (reader: Reader, message: Members, end: number, depth: number) => void;
/** Reads one value, from its length on if it has one. */
type ReadValue = (reader: Reader, depth: number, before?: Members) => unknown;
/** Reads what a field adds to a list or a map. */
type ReadInto = (reader: Reader, held: never, wire: WireType, depth: number) => void;

/**
 * The message of some bytes, as `fromBinary` of the library gives it.
 *
 * @throws Error for what is no such message.
 */
export function messageIn<D extends DescMessage>(desc: D, bytes: Uint8Array): MessageShape<D> {
  const read = readOf(desc);
  if (read === undefined) return fromBinary(desc, bytes);
  const message = emptyMessage(desc);
  try {
    read(new Reader(bytes), message as unknown as Members, bytes.length, MAX_DEPTH);
    return message;
  } catch (error) {
    // The library keeps what it does not know.
    if (error instanceof UnknownField) return fromBinary(desc, bytes);
    throw error;
  }
}

/** Undefined for what the library reads. */
const compiled = new WeakMap<DescMessage, Read | undefined>();

function readOf(desc: DescMessage): Read | undefined {
  if (!compiled.has(desc)) compiled.set(desc, isCompiled(desc) ? compile(desc) : undefined);
  return compiled.get(desc);
}

function compile(desc: DescMessage): Read {
  const known = { f: desc.fields.map(readValueOf), checkDepth, UNKNOWN };
  const source = [
    "return (r, m, end, depth) => {",
    "checkDepth(depth);",
    "while (r.pos < end) {",
    "const tag = r.uint32();",
    `if ((tag & 7) > ${WireType.Bit32}) throw UNKNOWN;`,
    "switch (tag >>> 3) {",
    ...desc.fields.map((field, i) => `case ${field.number}: ${lineOf(field, i)} break;`),
    "default: throw UNKNOWN;",
    "} } };",
  ];
  return new Function(...Object.keys(known), source.join("\n"))(...Object.values(known)) as Read;
}

/** The source that reads a field, whose tag was read; `f[i]` reads what it has no expression for. */
function lineOf(field: DescField, i: number): string {
  const { localName, oneof, fieldKind, message } = field;
  const held = `m.${localName}`;
  if (fieldKind === "map" || (fieldKind === "list" && message === undefined))
    return `f[${i}](r, ${held}, tag & 7, depth);`;
  if (fieldKind === "list") return `${held}.push(f[${i}](r, depth));`;
  const name = JSON.stringify(localName);
  // A message that comes twice is merged (protobuf encoding, "Last One Wins").
  const before =
    oneof === undefined ? held : `m.${oneof.localName}.case === ${name} ? m.${oneof.localName}.value : undefined`;
  const value = message === undefined ? scalarSourceOf(field) : `f[${i}](r, depth, ${before})`;
  return oneof === undefined ? `${held} = ${value};` : `m.${oneof.localName} = { case: ${name}, value: ${value} };`;
}

function scalarSourceOf(field: DescField): string {
  const method = methodOf(scalarOf(field));
  return `r.${method}(${method === "string" ? isStrict(field) : ""})`;
}

/** Whether bytes that are not UTF-8 are refused. */
function isStrict(field: DescField): boolean {
  return "utf8Validation" in field && field.utf8Validation === true;
}

/** What reads the values of a field, or adds to its list or map, if the source has no expression for it. */
function readValueOf(field: DescField): ReadValue | ReadInto | undefined {
  if (field.fieldKind === "map") return readMapOf(field) as ReadInto;
  if (field.message !== undefined) return readMessageOf(field, field.message);
  return field.fieldKind === "list" ? (readListOf(field) as ReadInto) : undefined;
}

function readMessageOf(field: DescField, desc: DescMessage): ReadValue {
  if (isJson(field)) {
    return (reader, depth, before) => {
      // The library makes one of two.
      if (before !== undefined) throw UNKNOWN;
      return readJson(reader, depth - 1);
    };
  }
  let read: Read | undefined;
  return (reader, depth, before = emptyMessage(desc) as unknown as Members) => {
    // Made when it is first needed: messages may contain themselves.
    read ??= readOf(desc) as Read;
    const end = reader.uint32() + reader.pos;
    read(reader, before, end, depth - 1);
    return before;
  };
}

function readListOf(field: DescField): (reader: Reader, list: unknown[], wire: WireType) => void {
  const read = readScalarOf(scalarOf(field), field);
  const packs = field.scalar !== ScalarType.STRING && field.scalar !== ScalarType.BYTES;
  return (reader, list, wire) => {
    if (!packs || wire !== WireType.LengthDelimited) return void list.push(read(reader));
    const end = reader.uint32() + reader.pos;
    while (reader.pos < end) list.push(read(reader));
  };
}

/** A map is a list of entries, each with a key and a value; an entry without one is left to the library. */
function readMapOf(
  field: DescField & { readonly fieldKind: "map" },
): (reader: Reader, map: Members, wire: WireType, depth: number) => void {
  const { mapKey, message: desc } = field;
  const readKey = readScalarOf(mapKey, field);
  const readValue = desc === undefined ? readScalarOf(scalarOf(field), field) : readMessageOf(field, desc);
  const keyTag = (1 << 3) | wireOf(mapKey);
  const valueTag = (2 << 3) | (desc === undefined ? wireOf(scalarOf(field)) : WireType.LengthDelimited);
  return (reader, map, _wire, depth) => {
    const end = reader.uint32() + reader.pos;
    let key: unknown;
    let value: unknown;
    while (reader.pos < end) {
      const tag = reader.uint32();
      if (tag === keyTag) key = readKey(reader);
      else if (tag === valueTag) value = readValue(reader, depth);
      else throw UNKNOWN;
    }
    if (key === undefined || value === undefined) throw UNKNOWN;
    if (key !== PROTOTYPE) map[String(key)] = value;
  };
}

function readScalarOf(scalar: ScalarType, field: DescField): (reader: Reader) => unknown {
  const method = methodOf(scalar);
  return method === "string" ? (reader) => reader.string(isStrict(field)) : (reader) => reader[method]();
}
