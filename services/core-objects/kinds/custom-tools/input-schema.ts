import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { invalidArgument } from "../../../shared/rpc/errors.js";

// The part of JSON Schema 2020-12 that every model's provider takes: plain, in
// place, small. What is not in it is refused by name when the tool is written,
// and not by a provider when an agent runs.

/** Longest schema, in bytes of JSON. */
const MAX_BYTES = 16_384;
/** Schemas inside schemas. */
const MAX_DEPTH = 6;
const MAX_PROPERTIES = 50;
const MAX_PATTERN = 200;

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const TYPES: readonly JsonValue[] = ["object", "array", "string", "integer", "number", "boolean"];
const KEYWORDS: ReadonlySet<string> = new Set([
  ...["type", "title", "description", "default", "examples", "enum", "const"],
  ...["properties", "required", "additionalProperties", "items", "minItems", "maxItems", "uniqueItems"],
  ...["minLength", "maxLength", "pattern", "format"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
]);

/** The schema of a tool that takes no arguments. */
export const NO_ARGUMENTS: JsonObject = { type: "object", properties: {} };

/**
 * The schema of a tool's arguments as it is kept.
 *
 * @throws ConnectError invalid_argument that says where it is not what all models take.
 */
export function schemaText(schema: JsonObject = NO_ARGUMENTS): string {
  const text = JSON.stringify(schema);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES) throw wrong("", `has ${bytes} bytes, more than ${MAX_BYTES}`);
  if (schema.type !== "object") throw wrong("", 'must have "type": "object", because arguments have names');
  check(schema, "", 1);
  return text;
}

/** The arguments of a schema that {@link schemaText} kept: type by name. */
export function argumentsOf(text: string): ReadonlyMap<string, JsonValue | undefined> {
  const { properties = {} } = JSON.parse(text) as { properties?: Readonly<Record<string, JsonObject>> };
  return new Map(Object.entries(properties).map(([name, { type }]) => [name, type]));
}

function check(schema: JsonValue | undefined, path: string, depth: number): void {
  if (!isObject(schema)) throw wrong(path, "must be an object");
  if (depth > MAX_DEPTH) throw wrong(path, `is deeper than ${MAX_DEPTH} levels`);
  const unknown = Object.keys(schema).find((keyword) => !KEYWORDS.has(keyword));
  if (unknown !== undefined)
    throw wrong(path, `has ${unknown.slice(0, 40)}, which not every model supports: write the schema without it`);
  const { type, properties, required, items, pattern, additionalProperties = false } = schema;
  if (!TYPES.includes(type ?? null)) throw wrong(path, `must have a type, one of ${TYPES.join(", ")}`);
  checkKeywords(schema, path);
  if (typeof additionalProperties !== "boolean") throw wrong(`${path}.additionalProperties`, "must be true or false");
  if (pattern !== undefined) checkPattern(pattern, `${path}.pattern`);
  if (type === "array") check(items, `${path}.items`, depth + 1);
  if (properties !== undefined) checkProperties(properties, path, depth);
  const names = Object.keys(isObject(properties) ? properties : {});
  if (required === undefined) return;
  const isNamed = Array.isArray(required) && required.every((name) => typeof name === "string" && names.includes(name));
  if (!isNamed) throw wrong(`${path}.required`, "must be a list of names from properties");
}

/** What each keyword takes: a value of another kind would be refused by a provider, when an agent runs. */
function checkKeywords(schema: JsonObject, path: string): void {
  for (const [keyword, value] of Object.entries(schema)) {
    const [takes, isTaken] = VALUES.find(([keywords]) => keywords.includes(keyword))?.[1] ?? [];
    if (isTaken !== undefined && !isTaken(value)) throw wrong(`${path}.${keyword}`, `must be ${takes}`);
  }
  const { type, enum: words, const: only } = schema;
  if (words !== undefined && !(Array.isArray(words) && words.length > 0))
    throw wrong(`${path}.enum`, "must be a list of the values that are allowed");
  const values = [...((words as JsonValue[] | undefined) ?? []), ...(only === undefined ? [] : [only])];
  const other = values.find((value) => !isOfType(value, type as string));
  if (other !== undefined)
    throw wrong(path, `allows the value ${JSON.stringify(other).slice(0, 40)}, which is not of its type ${type}`);
}

const isText = (value: JsonValue): boolean => typeof value === "string";
const isNumber = (value: JsonValue): boolean => typeof value === "number";
const isCount = (value: JsonValue): boolean => Number.isInteger(value) && (value as number) >= 0;
const VALUES: readonly (readonly [readonly string[], readonly [string, (value: JsonValue) => boolean]])[] = [
  [
    ["title", "description", "format"],
    ["a text", isText],
  ],
  [
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
    ["a number", isNumber],
  ],
  [["multipleOf"], ["a number above 0", (value) => isNumber(value) && (value as number) > 0]],
  [
    ["minItems", "maxItems", "minLength", "maxLength"],
    ["a whole number, 0 or more", isCount],
  ],
  [["uniqueItems"], ["true or false", (value) => typeof value === "boolean"]],
];

function isOfType(value: JsonValue, type: string): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function checkProperties(properties: JsonValue, path: string, depth: number): void {
  if (!isObject(properties)) throw wrong(`${path}.properties`, "must be an object");
  const names = Object.keys(properties);
  if (names.length > MAX_PROPERTIES) throw wrong(`${path}.properties`, `has more than ${MAX_PROPERTIES} members`);
  for (const name of names) {
    if (!NAME.test(name))
      throw wrong(
        `${path}.properties`,
        `has the name ${JSON.stringify(name.slice(0, 40))}: use only letters, digits, - and _ in names of arguments`,
      );
    check(properties[name], `${path}.properties.${name}`, depth + 1);
  }
}

function checkPattern(pattern: JsonValue, path: string): void {
  if (typeof pattern !== "string" || pattern.length > MAX_PATTERN)
    throw wrong(path, `must be a text of at most ${MAX_PATTERN} characters`);
  try {
    new RegExp(pattern, "u");
  } catch {
    throw wrong(path, "is not a valid regular expression");
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrong(path: string, what: string): Error {
  return invalidArgument(`input_schema${path}: ${what}`);
}
