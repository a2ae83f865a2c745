import {
  type DescEnum,
  type DescField,
  type DescMessage,
  fromJson,
  getOption,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { EMPTY, emptySource } from "../../rpc/message-from.js";
import { holdsSecret } from "../../rpc/secret-fields.js";
import { valueOfWord, valuesTakenBy, wordOf } from "../enums.js";
import { ArgumentError } from "./argument-error.js";
import { closestName } from "./closest-name.js";
import { type Range, type Read, readerOfScalar, readShownText, shown } from "./read-scalar.js";
import { timestampOf } from "./time.js";
import { unquoted } from "./unquoted.js";

// Arguments are proto JSON as a model writes it: field names as in the .proto
// file (camelCase is understood too), enum values as words, null for "not
// given", and at times a list or an object as its JSON text. Each message type
// is compiled once into a function of its own that walks the arguments once,
// straight into the message; its source text is made of names of our own
// descriptors alone.

/** Reads a tool's arguments into its request message. */
export type Decode = (args: JsonObject) => Message;

/**
 * Compiles the reader of one message.
 *
 * The reader throws ConnectError invalid_argument: it names the argument, what
 * is wrong with it and, for an unknown one, the name that was probably meant.
 *
 * @param showsHidden what the tool answers has hidden characters written out;
 * here they are turned back.
 */
export function compileDecode(desc: DescMessage, showsHidden = false): Decode {
  const read = readerOf(desc, { known: new Map(), showsHidden });
  return (args) => {
    try {
      return read(args) as Message;
    } catch (error) {
      throw error instanceof ArgumentError ? error.toConnectError() : error;
    }
  };
}

/** What is compiled already, and how. */
interface Compiled {
  readonly known: Map<DescMessage, Read>;
  readonly showsHidden: boolean;
}

function readerOf(desc: DescMessage, compiled: Compiled): Read {
  const known = compiled.known.get(desc);
  if (known !== undefined) return known;
  if (desc.typeName.startsWith("google.protobuf.")) return (json) => readWellKnown(desc, json);
  // Known before it is compiled, for messages that contain themselves.
  let read: Read = () => undefined;
  compiled.known.set(desc, (json) => read(json));
  read = compileMessage(desc, compiled);
  compiled.known.set(desc, read);
  return read;
}

function compileMessage(desc: DescMessage, compiled: Compiled): Read {
  const readers = desc.fields.map((field) => fieldReaderOf(field, compiled));
  const cases = desc.fields.map((field, i) => {
    const given = JSON.stringify(field.name);
    const alias = `case ${JSON.stringify(field.jsonName)}: if (${given} in json) refuseTwice(${given});`;
    const value = `r[${i}](v)`;
    const own = JSON.stringify(field.localName);
    const store =
      field.oneof === undefined
        ? `m.${field.localName} = ${value};`
        : `alone(m.${field.oneof.localName}, ${own}); m.${field.oneof.localName} = { case: ${own}, value: ${value} };`;
    return `${field.jsonName === field.name ? "" : alias} case ${given}: if (v !== null) ${store} break;`;
  });
  const source = [
    "return (json) => {",
    "if (!isObject(json)) refuseObject(json);",
    `const m = ${emptySource(desc)};`,
    'let name = "";',
    "try {",
    "for (name in json) {",
    "const v = json[name];",
    "switch (name) {",
    ...cases,
    // What is wrong is the object around it: there is no such name to point at.
    'default: { const unknown = name; name = ""; refuseUnknown(unknown); }',
    "}",
    "}",
    "} catch (error) { throw locate(error, name); }",
    "return m;",
    "};",
  ].join("\n");
  const known = {
    ...{ r: readers, EMPTY, isObject, refuseObject, refuseTwice, alone, locate },
    refuseUnknown: (name: string) => refuseUnknown(desc, name),
  };
  return new Function(...Object.keys(known), source)(...Object.values(known)) as Read;
}

/** Of the members of a oneof, one is given. */
function alone(chosen: { readonly case: string | undefined }, name: string): void {
  if (chosen.case === undefined || chosen.case === name) return;
  throw new ArgumentError(`cannot be given together with ${snakeCase(chosen.case)}`);
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function locate(error: unknown, name: string): unknown {
  return error instanceof ArgumentError && name !== "" ? error.within(name) : error;
}

function refuseObject(json: JsonValue): never {
  throw new ArgumentError(`must be an object, not ${shown(json)}`, "must be an object");
}

function refuseTwice(name: string): never {
  throw new ArgumentError(`is given twice, also as ${name}: give only ${name}`);
}

function refuseUnknown(desc: DescMessage, name: string): never {
  const names = desc.fields.map((f) => f.name);
  const meant = closestName(name, names);
  const known = names.length === 0 ? "there are no arguments" : `known arguments are ${names.join(", ")}`;
  throw new ArgumentError(
    `unknown argument ${shown(name)}: ${meant === undefined ? known : `did you mean "${meant}"?`}`,
    `unknown argument: ${known}`,
  );
}

function fieldReaderOf(field: DescField, compiled: Compiled): Read {
  const read = plainReaderOf(field, compiled);
  // The names in a list's items are ours; the keys of a map may be secrets.
  if (field.proto.options?.debugRedact) return field.fieldKind === "list" ? discreet(read) : silent(read);
  return field.message !== undefined && holdsSecret(field.message) ? discreet(read) : read;
}

/** Says what is wrong beside a secret, but not what was given: that may be the secret, in the wrong place. */
function discreet(read: Read): Read {
  return (json) => {
    try {
      return read(json);
    } catch (error) {
      throw error instanceof ArgumentError ? error.hushed() : error;
    }
  };
}

/** Says what a secret must be, and nothing of what was given, keys of maps included. */
function silent(read: Read): Read {
  return (json) => {
    try {
      return read(json);
    } catch (error) {
      throw error instanceof ArgumentError ? new ArgumentError(error.hushed().message) : error;
    }
  };
}

function plainReaderOf(field: DescField, compiled: Compiled): Read {
  const one = valueReaderOf(field, compiled);
  switch (field.fieldKind) {
    case "list":
      return (json) => readList(one, unquoted(json));
    case "map":
      return (json) => readMap(one, unquoted(json));
    case "message":
      return (json) => one(typeof json === "string" ? unquoted(json) : json);
    default:
      return one;
  }
}

function valueReaderOf(field: DescField, compiled: Compiled): Read {
  if (field.enum !== undefined) return enumReaderOf(field, field.enum);
  if (field.scalar === ScalarType.STRING && compiled.showsHidden) return readShownText;
  if (field.scalar !== undefined) return readerOfScalar(field.scalar, rangeOf(field));
  return readerOf(field.message as DescMessage, compiled);
}

function rangeOf(field: DescField): Range {
  const { type } = getOption(field, fieldRules);
  if (type.case !== "int32" && type.case !== "uint32") return {};
  const { greaterThan: from, lessThan: to } = type.value;
  return { ...(from.case === "gte" && { least: from.value }), ...(to.case === "lte" && { most: to.value }) };
}

function enumReaderOf(field: DescField, desc: DescEnum): Read {
  const numbers = new Map(desc.values.map((value) => [wordOf(value), value.number]));
  return (json) => {
    if (typeof json === "string") {
      const number = numbers.get(json) ?? valueOfWord(desc, json)?.number;
      if (number !== undefined) return number;
    } else if (typeof json === "number" && Number.isInteger(json) && Math.abs(json) <= 0x7fffffff) {
      return json;
    }
    const known = valuesTakenBy(field).map(wordOf).join(", ");
    throw new ArgumentError(`${shown(json)} is not one of ${known}`, `must be one of ${known}`);
  };
}

function readList(one: Read, json: JsonValue): unknown[] {
  if (!Array.isArray(json)) throw new ArgumentError(`must be a list, not ${shown(json)}`, "must be a list");
  const items: unknown[] = new Array(json.length);
  for (let i = 0; i < json.length; i++) {
    const item = json[i] as JsonValue;
    try {
      if (item === null) throw new ArgumentError("must not be null");
      items[i] = one(item);
    } catch (error) {
      throw error instanceof ArgumentError ? error.within(i) : error;
    }
  }
  return items;
}

function readMap(one: Read, json: JsonValue): Record<string, unknown> {
  if (!isObject(json)) throw new ArgumentError(`must be an object, not ${shown(json)}`, "must be an object");
  const map: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(json)) {
    if (key === "__proto__") throw new ArgumentError(`${shown(key)} cannot be a key`);
    if (value === null) continue;
    try {
      map[key] = one(value);
    } catch (error) {
      throw error instanceof ArgumentError ? error.within(key) : error;
    }
  }
  return map;
}

/** Struct stays the JSON it is; Timestamp, Duration and their like are read by their own rules. */
function readWellKnown(desc: DescMessage, json: JsonValue): unknown {
  if (desc.typeName === "google.protobuf.Struct") {
    if (isObject(json) && isExact(json)) return json;
    if (isObject(json))
      throw new ArgumentError("contains half a character (a lone surrogate) or a number out of range");
    throw new ArgumentError(`must be an object, not ${shown(json)}`, "must be an object");
  }
  if (desc.typeName === "google.protobuf.Timestamp") {
    const time = typeof json === "string" ? timestampOf(json) : undefined;
    if (time !== undefined) return time;
    throw new ArgumentError(`${shown(json)} is not ${FORMS[desc.typeName]}`, `must be ${FORMS[desc.typeName]}`);
  }
  try {
    return fromJson(desc, json);
  } catch {
    const form = FORMS[desc.typeName] ?? `a ${desc.name}`;
    throw new ArgumentError(`${shown(json)} is not ${form}`, `must be ${form}`);
  }
}

const FORMS: Readonly<Record<string, string>> = {
  "google.protobuf.Timestamp": 'a time such as "2026-07-28T09:30:00Z"',
  "google.protobuf.Duration": 'a duration in seconds such as "90s"',
};

/** Whether a value has a JSON text that every reader reads alike. */
function isExact(json: JsonValue): boolean {
  if (typeof json === "string") return json.isWellFormed();
  if (typeof json === "number") return Number.isFinite(json);
  if (typeof json !== "object" || json === null) return true;
  return Array.isArray(json)
    ? json.every(isExact)
    : Object.entries(json).every(([name, value]) => name.isWellFormed() && isExact(value as JsonValue));
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
