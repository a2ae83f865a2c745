import {
  type DescEnum,
  type DescField,
  type DescMessage,
  getOption,
  type Message,
  ScalarType,
  toJson,
} from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import { not_for_all, whole } from "#proto/mcp/v1/tool_pb.js";
import { jsonString } from "../../json-string.js";
import { wordOf } from "../enums.js";
import { showHidden } from "./hidden-characters.js";
import { fractionText, timeText } from "./time.js";

// A result is proto JSON with differences that suit a model: field names are
// those of the .proto file and enum values are words ("high"); numbers and
// booleans without presence are written, zero or not. What says nothing is left
// out: empty texts, lists and maps, an enum's zero value ("not given"), and an
// updated_at that is the same as created_at.
//
// What a result is about is said even if there is nothing: the list that it
// begins with, and the lists of an object that it shows whole (mcp.v1.whole).
//
// Each message type is compiled once into a function of its own that
// concatenates the text; no JSON object is built on the way. The source text
// of that function is made of names of our own descriptors alone.

/** Writes a message as JSON text. */
export type Encode = (message: Message) => string;

/**
 * Compiles the writer of one message.
 *
 * @param showsHidden writes out characters that hide in texts; somebody else's
 * document (google.protobuf.Struct) stays as it is.
 */
export function compileEncode(desc: DescMessage, showsHidden = false): Encode {
  const compiled: Compiled = { known: new Map(), text: showsHidden ? quotedShown : jsonString };
  if (desc.typeName.startsWith("google.protobuf.")) return wellKnown(desc) as Encode;
  return compileMessage(desc, compiled, startsWith) as Encode;
}

/** The list that a result begins with: what it is about. */
export function startsWith(field: DescField): boolean {
  return field.fieldKind === "list" && field === field.parent.fields[0];
}

/** The lists of an object that is shown whole. */
function isShownToAll(field: DescField): boolean {
  return field.fieldKind === "list" && !getOption(field, not_for_all);
}

/** What is compiled already, and how a text is written. */
interface Compiled {
  readonly known: Map<DescMessage, Write>;
  readonly text: (text: string) => string;
}

/** Writes one value as JSON text; undefined for an enum value that means "not given". */
type Write = (value: never) => string | undefined;

function writerOf(desc: DescMessage, compiled: Compiled): Write {
  const known = compiled.known.get(desc);
  if (known !== undefined) return known;
  if (desc.typeName.startsWith("google.protobuf.")) return wellKnown(desc);
  // Known before it is compiled, for messages that contain themselves.
  let write: Write = () => "";
  compiled.known.set(desc, (value) => write(value));
  write = compileMessage(desc, compiled);
  compiled.known.set(desc, write);
  return write;
}

/** @param isSaid whether a list is written even if it is empty. */
function compileMessage(
  desc: DescMessage,
  compiled: Compiled,
  isSaid: (field: DescField) => boolean = () => false,
): Write {
  const isWhole = getOption(desc, whole);
  const writers = desc.fields.map((field) =>
    isWhole && field.fieldKind === "message" && !field.message.typeName.startsWith("google.protobuf.")
      ? compileMessage(field.message, compiled, isShownToAll)
      : valueWriterOf(field, compiled),
  );
  const source = ["return (m) => {", 'let t = "{", s;'];
  // From the first field on that is always written, what follows needs a comma.
  let comma = false;
  desc.fields.forEach((field, i) => {
    const { value, condition } = isSaid(field) ? { value: listOf(field, i) } : partOf(field, i);
    const name = `${JSON.stringify(field.name)}:`;
    const label = comma ? literal(`,${name}`) : `(t.length === 1 ? ${literal(name)} : ${literal(`,${name}`)})`;
    if (condition === undefined) source.push(`t += ${label} + ${value};`);
    else if (field.fieldKind !== "enum") source.push(`if (${condition}) t += ${label} + ${value};`);
    else source.push(`if (${condition}) { s = ${value}; if (s !== undefined) t += ${label} + s; }`);
    comma ||= condition === undefined;
  });
  source.push('return t + "}";', "};");
  return new Function("w", "list", "map", "filled", "same", source.join("\n"))(
    writers,
    writeList,
    writeMap,
    isFilled,
    isSame,
  ) as Write;
}

/** How a field's value is written, and when it is; source text. */
function partOf(field: DescField, i: number): { readonly value: string; readonly condition?: string } {
  const { oneof, fieldKind, localName } = field;
  const from = `m.${localName}`;
  if (fieldKind === "list") return { value: listOf(field, i), condition: `${from}.length > 0` };
  if (fieldKind === "map") return { value: `map(${from}, w[${i}])`, condition: `filled(${from})` };
  if (oneof !== undefined) {
    return {
      value: `w[${i}](m.${oneof.localName}.value)`,
      condition: `m.${oneof.localName}.case === ${literal(localName)}`,
    };
  }
  const value = `w[${i}](${from})`;
  if (field.scalar === ScalarType.STRING) return { value, condition: from };
  if (field.scalar === ScalarType.BYTES) return { value, condition: `${from}?.length > 0` };
  if (fieldKind === "scalar" && field.presence === IMPLICIT) return { value };
  const created = field.name === "updated_at" ? field.parent.field.createdAt : undefined;
  if (created !== undefined)
    return { value, condition: `${from} !== undefined && !same(${from}, m.${created.localName})` };
  return { value, condition: `${from} !== undefined` };
}

function listOf({ localName }: DescField, i: number): string {
  return `list(m.${localName}, w[${i}])`;
}

function isFilled(map: object): boolean {
  for (const _ in map) return true;
  return false;
}

/** Whether an object was not changed since it was made. */
function isSame(updated: Timestamp, created: Timestamp | undefined): boolean {
  return created !== undefined && updated.seconds === created.seconds && updated.nanos === created.nanos;
}

const IMPLICIT = 2;

/** A text as source text. */
const literal = JSON.stringify;

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
    if (value !== undefined) text += `${text === "" ? "" : ","}${jsonString(key)}:${value}`;
  }
  return `{${text}}`;
}

function valueWriterOf(field: DescField, compiled: Compiled): Write {
  if (field.enum !== undefined) return enumWriterOf(field.enum) as Write;
  if (field.scalar === ScalarType.STRING) return compiled.text as Write;
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
      return jsonString;
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

// biome-ignore lint/suspicious/noControlCharactersInRegex: what JSON text must escape, and what hides (hidden-characters.ts)
const NEEDS_CARE = /[\u0000-\u001f"\\\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069]/;

function quotedShown(text: string): string {
  return NEEDS_CARE.test(text) ? showHidden(JSON.stringify(text)) : `"${text}"`;
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

function durationText({ seconds, nanos }: Duration): string {
  const sign = seconds < 0n || nanos < 0 ? "-" : "";
  const whole = seconds < 0n ? -seconds : seconds;
  return `${sign}${whole}${nanos === 0 ? "" : `.${fractionText(Math.abs(nanos))}`}s`;
}
