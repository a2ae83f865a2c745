import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
} from "@bufbuild/protobuf";
import { valueOfWord, wordOf } from "../../services/shared/api/enums.js";
import { closestName } from "./closest-name.js";
import { ArgumentError } from "./located-error.js";
import { type Read, readerOfScalar, shown } from "./read-scalar.js";

// Arguments are proto JSON as a model writes it: field names as in the .proto
// file (camelCase is understood too), enum values as words, null for "not
// given", and at times a list or an object as its JSON text. Each message is
// compiled once into closures; an argument is walked once, straight into the
// message.

/** Reads a tool's arguments into its request message. */
export type Decode = (args: JsonObject) => Message;

/**
 * Compiles the reader of one message.
 *
 * The reader throws ConnectError invalid_argument: it names the argument, what
 * is wrong with it and, for an unknown one, the name that was probably meant.
 */
export function compileDecode(desc: DescMessage): Decode {
  const read = readerOf(desc, new Map());
  return (args) => {
    try {
      return read(args) as Message;
    } catch (error) {
      throw error instanceof ArgumentError ? error.toConnectError() : error;
    }
  };
}

type Store = (target: Record<string, unknown>, json: JsonValue) => void;

function readerOf(desc: DescMessage, compiled: Map<DescMessage, Read>): Read {
  const known = compiled.get(desc);
  if (known !== undefined) return known;
  if (desc.typeName.startsWith("google.protobuf.")) {
    return compile(desc, compiled, (json) => readWellKnown(desc, json));
  }
  const stores = new Map<string, Store>();
  const read = compile(desc, compiled, (json) => {
    if (!isObject(json)) throw new ArgumentError(`must be an object, not ${shown(json)}`);
    const message = create(desc) as Message & Record<string, unknown>;
    let name = "";
    try {
      for (name in json) {
        const value = json[name] as JsonValue;
        const store = stores.get(name);
        if (store === undefined) return refuseUnknown(desc, name);
        if (value !== null) store(message, value);
      }
    } catch (error) {
      throw error instanceof ArgumentError && stores.has(name) ? error.within(name) : error;
    }
    return message;
  });
  for (const field of desc.fields) {
    const store = storeOf(field, compiled);
    stores.set(field.name, store).set(field.jsonName, store);
  }
  return read;
}

function compile(desc: DescMessage, compiled: Map<DescMessage, Read>, read: Read): Read {
  compiled.set(desc, read);
  return read;
}

function refuseUnknown(desc: DescMessage, name: string): never {
  const names = desc.fields.map((f) => f.name);
  const meant = closestName(name, names);
  const known = names.length === 0 ? "it takes none" : `known are ${names.join(", ")}`;
  throw new ArgumentError(
    `unknown argument ${shown(name)}: ${meant === undefined ? known : `did you mean "${meant}"?`}`,
  );
}

function storeOf(field: DescField, compiled: Map<DescMessage, Read>): Store {
  const { localName: name } = field;
  const one = valueReaderOf(field, compiled);
  switch (field.fieldKind) {
    case "list":
      return (target, json) => {
        target[name] = readList(one, unquoted(json));
      };
    case "map":
      return (target, json) => {
        target[name] = readMap(one, unquoted(json));
      };
    default: {
      const read: Read = field.fieldKind === "message" ? (json) => one(unquoted(json)) : one;
      if (field.oneof === undefined) {
        return (target, json) => {
          target[name] = read(json);
        };
      }
      const { localName: oneof, fields } = field.oneof;
      const others = fields.filter((f) => f !== field).map((f) => f.name);
      return (target, json) => {
        const { case: other } = target[oneof] as { case: string | undefined };
        if (other !== undefined && other !== name) {
          throw new ArgumentError(`cannot be given together with ${others.join(", ")}`);
        }
        target[oneof] = { case: name, value: read(json) };
      };
    }
  }
}

function valueReaderOf(field: DescField, compiled: Map<DescMessage, Read>): Read {
  if (field.enum !== undefined) return enumReaderOf(field.enum);
  if (field.scalar !== undefined) return readerOfScalar(field.scalar);
  return readerOf(field.message as DescMessage, compiled);
}

function enumReaderOf(desc: DescEnum): Read {
  const numbers = new Map(desc.values.map((value) => [wordOf(value), value.number]));
  return (json) => {
    if (typeof json === "string") {
      const number = numbers.get(json) ?? valueOfWord(desc, json)?.number;
      if (number !== undefined) return number;
    } else if (typeof json === "number" && Number.isInteger(json) && Math.abs(json) <= 0x7fffffff) {
      return json;
    }
    const words = [...numbers.keys()].filter((word) => word !== undefined);
    throw new ArgumentError(`${shown(json)} is not one of ${words.join(", ")}`);
  };
}

function readList(one: Read, json: JsonValue): unknown[] {
  if (!Array.isArray(json)) throw new ArgumentError(`must be a list, not ${shown(json)}`);
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
  if (!isObject(json)) throw new ArgumentError(`must be an object, not ${shown(json)}`);
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
    if (isObject(json)) return json;
    throw new ArgumentError(`must be an object, not ${shown(json)}`);
  }
  try {
    return fromJson(desc, json);
  } catch {
    throw new ArgumentError(`${shown(json)} is not ${FORMS[desc.typeName] ?? `a ${desc.name}`}`);
  }
}

const FORMS: Readonly<Record<string, string>> = {
  "google.protobuf.Timestamp": 'a time such as "2026-07-28T09:30:00Z"',
  "google.protobuf.Duration": 'a duration in seconds such as "90s"',
};

/** Models at times send an object or a list as its JSON text; reads it. */
function unquoted(json: JsonValue): JsonValue {
  if (typeof json !== "string" || !/^\s*[[{]/.test(json)) return json;
  try {
    return JSON.parse(json) as JsonValue;
  } catch {
    return json;
  }
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
