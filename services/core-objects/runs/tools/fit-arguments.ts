import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { shown } from "../../../shared/tools/codec/read-scalar.js";
import { unquoted } from "../../../shared/tools/codec/unquoted.js";

// What a model gives a custom tool is sent in the types that the tool declares. Models write numbers and lists as texts
// now and then: what can only mean one thing is read so, and anything else is refused in words for the model.

/** A schema that input-schema.ts took. */
interface Declared {
  readonly type: string;
  readonly enum?: readonly JsonValue[];
  readonly const?: JsonValue;
  readonly properties?: Readonly<Record<string, Declared>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: Declared;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
}

/** A text that must match, and which is matched where it can do no harm. */
export interface Match {
  readonly path: string;
  readonly pattern: string;
  readonly text: string;
}

/** Arguments as they are sent. */
export interface Fitted {
  readonly args: JsonObject;
  readonly matches: readonly Match[];
}

/**
 * The arguments in the types of the schema that a custom tool declares.
 *
 * @throws ConnectError invalid_argument, in words for the model.
 */
export function fitArguments(inputSchema: string, args: JsonObject): Fitted {
  const matches: Match[] = [];
  const fitted = fitObject(JSON.parse(inputSchema) as Declared, args, "", matches);
  return { args: fitted, matches };
}

function fitObject(schema: Declared, value: JsonObject, path: string, matches: Match[]): JsonObject {
  const { properties = {}, required = [], additionalProperties = false } = schema;
  const inner = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined && !additionalProperties)
    throw invalidArgument(
      `unknown argument ${inner(unknown)}: known arguments are ${Object.keys(properties).join(", ")}`,
    );
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) throw invalidArgument(`the argument ${inner(missing)} is missing`);
  const fitted = Object.entries(value).flatMap(([name, given]): [string, JsonValue][] => {
    const declared = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (declared === undefined) return [[name, given]];
    // Some models write null for what they do not give.
    if (given === null && !required.includes(name)) return [];
    return [[name, fitValue(declared, given, inner(name), matches)]];
  });
  return Object.fromEntries(fitted);
}

function fitValue(schema: Declared, given: JsonValue, path: string, matches: Match[]): JsonValue {
  const wrong = (what: string): Error => invalidArgument(`${path}: must be ${what}, not ${shown(given)}`);
  const value = read(schema.type, given);
  if (value === undefined) throw wrong(WORDS[schema.type] ?? schema.type);
  if (schema.enum !== undefined && !schema.enum.some((one) => isSame(one, value)))
    throw wrong(`one of ${schema.enum.map((one) => JSON.stringify(one)).join(", ")}`);
  if (schema.const !== undefined && !isSame(schema.const, value)) throw wrong(JSON.stringify(schema.const));
  if (typeof value === "string") checkText(schema, value, path, matches);
  if (typeof value === "number") {
    const bound = boundOf(schema, value);
    if (bound !== undefined) throw wrong(bound);
  }
  if (Array.isArray(value)) return fitList(schema, value, path, matches);
  return typeof value === "object" && value !== null ? fitObject(schema, value, path, matches) : value;
}

const WORDS: Readonly<Record<string, string>> = {
  string: "a string",
  integer: "an integer",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

const NUMERAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** A value in a type; undefined if it cannot be read as one. */
function read(type: string, given: JsonValue): JsonValue | undefined {
  switch (type) {
    case "string":
      if (typeof given === "number" || typeof given === "boolean") return String(given);
      return typeof given === "string" ? given : undefined;
    case "boolean":
      if (typeof given === "boolean") return given;
      return given === "true" ? true : given === "false" ? false : undefined;
    case "integer":
    case "number": {
      const value = typeof given === "string" && NUMERAL.test(given) ? Number(given) : given;
      if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
      return type === "number" || Number.isSafeInteger(value) ? value : undefined;
    }
    case "array": {
      const value = unquoted(given);
      return Array.isArray(value) ? value : undefined;
    }
    default: {
      const value = unquoted(given);
      return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
    }
  }
}

function checkText({ minLength, maxLength, pattern }: Declared, text: string, path: string, matches: Match[]): void {
  const length = [...text].length;
  if (minLength !== undefined && length < minLength)
    throw invalidArgument(`${path}: must have at least ${minLength} characters`);
  if (maxLength !== undefined && length > maxLength)
    throw invalidArgument(`${path}: must have at most ${maxLength} characters`);
  if (pattern !== undefined) matches.push({ path, pattern, text });
}

function boundOf(schema: Declared, value: number): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (minimum !== undefined && value < minimum) return `at least ${minimum}`;
  if (maximum !== undefined && value > maximum) return `at most ${maximum}`;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return `more than ${exclusiveMinimum}`;
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) return `less than ${exclusiveMaximum}`;
  if (multipleOf === undefined) return undefined;
  // 0.3 is a multiple of 0.1 to people.
  const times = value / multipleOf;
  return Math.abs(times - Math.round(times)) > 1e-9 * Math.max(1, Math.abs(times))
    ? `a multiple of ${multipleOf}`
    : undefined;
}

function fitList(schema: Declared, list: readonly JsonValue[], path: string, matches: Match[]): JsonValue {
  const { items, minItems, maxItems, uniqueItems } = schema;
  if (minItems !== undefined && list.length < minItems)
    throw invalidArgument(`${path}: must have at least ${minItems} items`);
  if (maxItems !== undefined && list.length > maxItems)
    throw invalidArgument(`${path}: must have at most ${maxItems} items`);
  const fitted = list.map((one, i) => fitValue(items as Declared, one, `${path}[${i}]`, matches));
  if (uniqueItems && new Set(fitted.map((one) => JSON.stringify(one))).size < fitted.length)
    throw invalidArgument(`${path}: must not have the same item twice`);
  return fitted;
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
