import { type DescEnum, type DescField, type DescMessage, type Message, ScalarType, toJson } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import { wordOf } from "../../services/shared/api/enums.js";

// A result is proto JSON with three differences that suit a model: field names
// are those of the .proto file, enum values are words ("high"), and every
// field without presence is written, empty or not. An enum's zero value means
// "not given" and is left out. Each message is compiled once into closures
// that concatenate the text; no JSON object is built on the way.

/** Writes a message as JSON text. */
export type Encode = (message: Message) => string;

/** Compiles the writer of one message. */
export function compileEncode(desc: DescMessage): Encode {
  return writerOf(desc, new Map()) as Encode;
}

/** Writes one value as JSON text. */
type Write = (value: never) => string;
/** Writes one field with its name, a comma before each; "" where it is not set. */
type WriteField = (message: Readonly<Record<string, unknown>>) => string;

function writerOf(desc: DescMessage, compiled: Map<DescMessage, Write>): Write {
  const known = compiled.get(desc);
  if (known !== undefined) return known;
  if (desc.typeName.startsWith("google.protobuf.")) return wellKnown(desc);
  const fields: WriteField[] = [];
  const write: Write = (message: Message) => {
    let text = "";
    for (let i = 0; i < fields.length; i++) text += (fields[i] as WriteField)(message as never);
    return text === "" ? "{}" : `{${text.slice(1)}}`;
  };
  compiled.set(desc, write);
  for (const field of desc.fields) fields.push(fieldWriterOf(field, compiled));
  return write;
}

function fieldWriterOf(field: DescField, compiled: Map<DescMessage, Write>): WriteField {
  const { localName } = field;
  const prefix = `,${JSON.stringify(field.name)}:`;
  const one = valueWriterOf(field, compiled) as (value: unknown) => string | undefined;
  if (field.fieldKind === "list") {
    return (message) => prefix + writeList(message[localName] as readonly unknown[], one);
  }
  if (field.fieldKind === "map") {
    return (message) => prefix + writeMap(message[localName] as Readonly<Record<string, unknown>>, one);
  }
  const write = (value: unknown): string => {
    if (value === undefined) return "";
    const text = one(value);
    return text === undefined ? "" : prefix + text;
  };
  if (field.oneof === undefined) return (message) => write(message[localName]);
  const oneof = field.oneof.localName;
  return (message) => {
    const chosen = message[oneof] as { case: string | undefined; value?: unknown };
    return chosen.case === localName ? write(chosen.value) : "";
  };
}

function writeList(values: readonly unknown[], one: (value: unknown) => string | undefined): string {
  let text = "";
  for (let i = 0; i < values.length; i++) {
    const item = one(values[i]);
    if (item !== undefined) text += text === "" ? item : `,${item}`;
  }
  return `[${text}]`;
}

function writeMap(map: Readonly<Record<string, unknown>>, one: (value: unknown) => string | undefined): string {
  let text = "";
  for (const key of Object.keys(map)) {
    const value = one(map[key]);
    if (value !== undefined) text += `${text === "" ? "" : ","}${quoted(key)}:${value}`;
  }
  return `{${text}}`;
}

function valueWriterOf(field: DescField, compiled: Map<DescMessage, Write>): Write {
  if (field.enum !== undefined) return enumWriterOf(field.enum) as Write;
  if (field.scalar !== undefined) return scalarWriterOf(field.scalar) as Write;
  return writerOf(field.message as DescMessage, compiled);
}

function enumWriterOf(desc: DescEnum): (value: number) => string | undefined {
  const words = new Map<number, string | undefined>();
  for (const value of desc.values) {
    const word = wordOf(value);
    if (!words.has(value.number)) words.set(value.number, word === undefined ? undefined : JSON.stringify(word));
  }
  return (value) => (words.has(value) ? words.get(value) : String(value));
}

function scalarWriterOf(type: ScalarType): (value: never) => string {
  switch (type) {
    case ScalarType.STRING:
      return quoted;
    case ScalarType.BOOL:
      return (value: boolean) => (value ? "true" : "false");
    case ScalarType.BYTES:
      return (value: Uint8Array) => `"${base64Encode(value)}"`;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return (value: number) => (Number.isFinite(value) ? String(value) : `"${value}"`);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return (value: bigint) => `"${value}"`;
    default:
      return (value: number) => String(value);
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON text must escape (RFC 8259 section 7)
const NEEDS_ESCAPE = /[\u0000-\u001f"\\\ud800-\udfff]/;

function quoted(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}

function wellKnown(desc: DescMessage): Write {
  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
      return (value: Timestamp) => `"${timeText(value)}"`;
    case "google.protobuf.Duration":
      return (value: Duration) => `"${durationText(value)}"`;
    case "google.protobuf.Struct":
      return (value: object) => JSON.stringify(value);
    default:
      return (value: Message) => JSON.stringify(toJson(desc, value));
  }
}

function timeText({ seconds, nanos }: Timestamp): string {
  const text = new Date(Number(seconds) * 1000).toISOString();
  return nanos === 0 ? text.replace(".000Z", "Z") : text.replace("000Z", `${fraction(nanos)}Z`);
}

function durationText({ seconds, nanos }: Duration): string {
  const sign = seconds < 0n || nanos < 0 ? "-" : "";
  const whole = seconds < 0n ? -seconds : seconds;
  return `${sign}${whole}${nanos === 0 ? "" : `.${fraction(Math.abs(nanos))}`}s`;
}

/** Nanoseconds as 3, 6 or 9 digits, as proto JSON writes them. */
function fraction(nanos: number): string {
  return String(nanos)
    .padStart(9, "0")
    .replace(/(?:000){1,2}$/, "");
}
