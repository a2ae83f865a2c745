import {
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { isCompiled, isJson, methodOf, scalarOf, wireOf } from "./fields.js";
import { writeJson } from "./json.js";
import { Writer } from "./writer.js";

// The library looks up what each field is for each message that it writes. Here each message type has a function of its
// own, whose source is made of names of our own descriptors. The bytes are the same.

type Unknown = NonNullable<Message["$unknown"]>;
/** Writes the fields of a message. */
type Write = (writer: Writer, message: Message) => void;
/** Writes what the source has no line for. */
type WriteValue = (writer: Writer, value: never) => void;

/** The bytes of messages that nobody can change: a page that a service keeps is written once. */
const written = new WeakMap<Message, Uint8Array>();

/** The bytes of a message, as `toBinary` of the library gives them. A frozen message is one that does not change. */
export function binaryOf<D extends DescMessage>(desc: D, message: MessageShape<D>): Uint8Array {
  if (!Object.isFrozen(message)) return bytesOf(desc, message);
  let bytes = written.get(message);
  if (bytes === undefined) {
    bytes = bytesOf(desc, message);
    written.set(message, bytes);
  }
  return bytes;
}

function bytesOf<D extends DescMessage>(desc: D, message: MessageShape<D>): Uint8Array {
  const write = writeOf(desc);
  if (write === undefined) return toBinary(desc, message);
  writer.begin();
  write(writer, message);
  return writer.end();
}

/** One for all: a message is written in one go. */
const writer = new Writer();

/** Undefined for what the library writes. */
const compiled = new WeakMap<DescMessage, Write | undefined>();

function writeOf(desc: DescMessage): Write | undefined {
  if (!compiled.has(desc)) compiled.set(desc, isCompiled(desc) ? compile(desc) : undefined);
  return compiled.get(desc);
}

function compile(desc: DescMessage): Write {
  const fields = desc.fields.toSorted((a, b) => a.number - b.number);
  const lines = fields.map(lineOf);
  const known = { f: fields.map(writeValueOf), hasOwn: Object.hasOwn, unknown: writeUnknown };
  const source = `return (w, m) => { let v, s; ${lines.join("\n")} if (m.$unknown !== undefined) unknown(w, m.$unknown); };`;
  return new Function(...Object.keys(known), source)(...Object.values(known)) as Write;
}

function writeUnknown(writer: Writer, unknown: Unknown): void {
  for (const { no, wireType, data } of unknown) {
    writer.tag(no, wireType);
    writer.raw(data);
  }
}

/** The source that writes a field, if it is set; `f[i]` writes what it has no line for. */
function lineOf(field: DescField, i: number): string {
  const { localName, oneof, fieldKind } = field;
  if (fieldKind === "map" || (fieldKind === "list" && field.packed)) return `f[${i}](w, m.${localName});`;
  const one = valueLineOf(field, i);
  if (fieldKind === "list") return `for (v of m.${localName}) { ${one} }`;
  if (oneof === undefined) return `v = m.${localName}; if (${conditionOf(field)}) { ${one} }`;
  const chosen = `m.${oneof.localName}`;
  return `if (${chosen}.case === ${JSON.stringify(localName)}) { v = ${chosen}.value; ${one} }`;
}

/** The source that writes one value, v, of a field. */
function valueLineOf(field: DescField, i: number): string {
  const { number, message } = field;
  if (message === undefined) return `${tagLineOf(number, wireOf(scalarOf(field)))} w.${methodOf(scalarOf(field))}(v);`;
  return `${tagLineOf(number, WireType.LengthDelimited)} s = w.fork(); f[${i}](w, v); w.join(s);`;
}

const tagLineOf = (number: number, wire: WireType): string => `w.uint32(${((number << 3) | wire) >>> 0});`;

/** Whether v is set. See "field presence" of the library: without it a field is set if it is not zero. */
function conditionOf({ localName, presence, scalar, enum: words }: DescField): string {
  if (presence !== IMPLICIT) return `v !== undefined && hasOwn(m, ${JSON.stringify(localName)})`;
  if (words !== undefined) return `v !== ${words.values[0]?.number}`;
  switch (scalar) {
    case ScalarType.STRING:
      return 'v !== ""';
    case ScalarType.BOOL:
      return "v !== false";
    case ScalarType.BYTES:
      return "v.length !== 0";
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return "!Object.is(v, 0)";
    default:
      return "v != 0";
  }
}

/** FeatureSet.FieldPresence.IMPLICIT of google/protobuf/descriptor.proto. */
const IMPLICIT = 2;

/** What writes the values of a field, or its list or map, if the source has no line for it. */
function writeValueOf(field: DescField): WriteValue | undefined {
  if (field.fieldKind === "map") return writeMapOf(field) as WriteValue;
  if (field.fieldKind === "list" && field.packed) return writePackedOf(field) as WriteValue;
  return field.message && writeMessageOf(field, field.message);
}

function writeMessageOf(field: DescField, desc: DescMessage): WriteValue {
  if (isJson(field)) return writeJson as WriteValue;
  let write: Write | undefined;
  return (writer, message) => {
    // Made when it is first needed: messages may contain themselves.
    write ??= writeOf(desc) as Write;
    write(writer, message);
  };
}

function writePackedOf(field: DescField): (writer: Writer, values: readonly never[]) => void {
  const method = methodOf(scalarOf(field));
  return (writer, values) => {
    if (values.length === 0) return;
    writer.tag(field.number, WireType.LengthDelimited);
    const start = writer.fork();
    for (const value of values) writer[method](value);
    writer.join(start);
  };
}

/** A map is a list of entries, each with a key and a value. */
function writeMapOf(field: DescField & { readonly fieldKind: "map" }): (writer: Writer, map: object) => void {
  const { number, mapKey, message } = field;
  const keyOf = keyReaderOf(mapKey);
  const writeHeld = message && writeMessageOf(field, message);
  return (writer, map) => {
    for (const [name, value] of Object.entries(map)) {
      writer.tag(number, WireType.LengthDelimited);
      const entry = writer.fork();
      writeScalar(writer, 1, mapKey, keyOf(name));
      if (writeHeld === undefined) writeScalar(writer, 2, scalarOf(field), value);
      else {
        writer.tag(2, WireType.LengthDelimited);
        const start = writer.fork();
        writeHeld(writer, value as never);
        writer.join(start);
      }
      writer.join(entry);
    }
  };
}

function writeScalar(writer: Writer, number: number, scalar: ScalarType, value: unknown): void {
  writer.tag(number, wireOf(scalar));
  writer[methodOf(scalar)](value as never);
}

/** Makes the key of a map of its name in a message. */
function keyReaderOf(type: ScalarType): (name: string) => unknown {
  switch (type) {
    case ScalarType.STRING:
      return (name) => name;
    case ScalarType.BOOL:
      return (name) => name === "true";
    default:
      return methodOf(type).endsWith("64") ? BigInt : Number;
  }
}
