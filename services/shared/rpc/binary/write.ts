import {
  type DescField,
  type DescMessage,
  type Message,
  type MessageShape,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { isScalarZeroValue } from "@bufbuild/protobuf/reflect";
import { WireType } from "@bufbuild/protobuf/wire";
import { isCompiled, isJson, methodOf, scalarOf, wireOf } from "./fields.js";
import { writeJson } from "./json.js";
import { Writer } from "./writer.js";

// The library looks up what each field is for each message that it writes.
// Here that is done once for each type. The bytes are the same.

type Members = Readonly<Record<string, unknown>>;
/** Writes one field, if it is set. */
type WriteField = (writer: Writer, message: Members) => void;
type WriteValue = (writer: Writer, value: unknown) => void;

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
  const fields = fieldsOf(desc);
  if (fields === undefined) return toBinary(desc, message);
  writer.begin();
  writeAll(writer, fields, message);
  return writer.end();
}

/** One for all: a message is written in one go. */
const writer = new Writer();

const compiled = new WeakMap<DescMessage, readonly WriteField[] | undefined>();

function fieldsOf(desc: DescMessage): readonly WriteField[] | undefined {
  if (!compiled.has(desc)) compiled.set(desc, isCompiled(desc) ? compile(desc) : undefined);
  return compiled.get(desc);
}

function compile(desc: DescMessage): readonly WriteField[] {
  return desc.fields.toSorted((a, b) => a.number - b.number).map(writeFieldOf);
}

function writeAll(writer: Writer, fields: readonly WriteField[], message: Message): void {
  for (const write of fields) write(writer, message as unknown as Members);
  for (const { no, wireType, data } of message.$unknown ?? []) {
    writer.tag(no, wireType);
    writer.raw(data);
  }
}

function writeFieldOf(field: DescField): WriteField {
  const { localName, oneof } = field;
  if (field.fieldKind === "list") return writeListOf(field);
  if (field.fieldKind === "map") return writeMapOf(field);
  const write = writeValueOf(field);
  if (oneof !== undefined) {
    return (writer, message) => {
      const chosen = message[oneof.localName] as { readonly case?: string; readonly value?: unknown };
      if (chosen.case === localName) write(writer, chosen.value);
    };
  }
  const isSet = isSetOf(field);
  return (writer, message) => {
    const value = message[localName];
    if (isSet(value, message)) write(writer, value);
  };
}

/** See "field presence" of the library: without it a field is set if it is not zero. */
function isSetOf({
  localName,
  presence,
  scalar,
  enum: words,
}: DescField): (value: unknown, message: Members) => boolean {
  if (presence !== IMPLICIT) return (value, message) => value !== undefined && Object.hasOwn(message, localName);
  if (scalar !== undefined) return (value) => !isScalarZeroValue(scalar, value);
  const zero = words?.values[0]?.number;
  return (value) => value !== zero;
}

/** FeatureSet.FieldPresence.IMPLICIT of google/protobuf/descriptor.proto. */
const IMPLICIT = 2;

function writeListOf(field: DescField & { readonly fieldKind: "list" }): WriteField {
  const { localName, number } = field;
  if (!field.packed) {
    const write = writeValueOf(field);
    return (writer, message) => {
      for (const value of message[localName] as readonly unknown[]) write(writer, value);
    };
  }
  const method = methodOf(scalarOf(field));
  return (writer, message) => {
    const values = message[localName] as readonly unknown[];
    if (values.length === 0) return;
    writer.tag(number, WireType.LengthDelimited);
    const start = writer.fork();
    for (const value of values) writer[method](value as never);
    writer.join(start);
  };
}

/** A map is a list of entries, each with a key and a value. */
function writeMapOf(field: DescField & { readonly fieldKind: "map" }): WriteField {
  const { localName, number, mapKey } = field;
  const keyOf = keyReaderOf(mapKey);
  const writeKey = writeScalarOf(mapKey, 1);
  const writeValue = writeValueOf(field, 2);
  return (writer, message) => {
    for (const [name, value] of Object.entries(message[localName] as object)) {
      writer.tag(number, WireType.LengthDelimited);
      const start = writer.fork();
      writeKey(writer, keyOf(name));
      writeValue(writer, value);
      writer.join(start);
    }
  };
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

function writeValueOf(field: DescField, number = field.number): WriteValue {
  const { message } = field;
  if (message !== undefined && isJson(field)) {
    return (writer, value) => {
      writer.tag(number, WireType.LengthDelimited);
      const start = writer.fork();
      writeJson(writer, value as object);
      writer.join(start);
    };
  }
  if (message !== undefined) {
    let fields: readonly WriteField[] | undefined;
    return (writer, value) => {
      // Made when it is first needed: messages may contain themselves.
      fields ??= fieldsOf(message) as readonly WriteField[];
      writer.tag(number, WireType.LengthDelimited);
      const start = writer.fork();
      writeAll(writer, fields, value as Message);
      writer.join(start);
    };
  }
  return writeScalarOf(scalarOf(field), number);
}

function writeScalarOf(scalar: ScalarType, number: number): WriteValue {
  const [method, wire] = [methodOf(scalar), wireOf(scalar)];
  return (writer, value) => {
    writer.tag(number, wire);
    writer[method](value as never);
  };
}
