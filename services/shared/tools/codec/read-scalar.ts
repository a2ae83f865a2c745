import { type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { ArgumentError } from "./argument-error.js";
import { restoreHidden } from "./hidden-characters.js";

/** Reads one JSON value, or throws an ArgumentError that says what it should be. */
export type Read = (json: JsonValue) => unknown;

/** The bounds that a field's rules give a number. */
export interface Range {
  readonly least?: number;
  readonly most?: number;
}

/**
 * How a scalar is read, by the rules of proto JSON: numbers may come as text, 64 bits as either.
 *
 * @param range is told of a number that its type cannot hold; who checks the rules refuses the others.
 */
export function readerOfScalar(type: ScalarType, range: Range = {}): Read {
  switch (type) {
    case ScalarType.STRING:
      return readString;
    case ScalarType.BOOL:
      return readBool;
    case ScalarType.BYTES:
      return readBytes;
    case ScalarType.DOUBLE:
      return readDouble;
    case ScalarType.FLOAT:
      return readFloat;
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return integerIn({ least: -0x80000000, most: 0x7fffffff }, range);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return integerIn({ least: 0, most: 0xffffffff }, range);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return int64;
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return uint64;
  }
}

const int64 = bigBetween(-(2n ** 63n), 2n ** 63n - 1n);
const uint64 = bigBetween(0n, 2n ** 64n - 1n);

const MAX_FLOAT = 3.4028234663852886e38;
const NAMED: ReadonlyMap<string, number> = new Map([
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
]);
const NUMERAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
/** What a hidden character begins with where it is shown. */
const SHOWN_FROM = "‹";

const MAX_SHOWN = 60;

/** What was given, short enough for a message. */
export function shown(json: JsonValue): string {
  const text = JSON.stringify(typeof json === "string" ? json.slice(0, MAX_SHOWN) : json);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function refuse(expected: string, json: JsonValue): never {
  throw new ArgumentError(`must be ${expected}, not ${shown(json)}`, `must be ${expected}`);
}

function readString(json: JsonValue): string {
  if (typeof json !== "string") return refuse("a string", json);
  if (!json.isWellFormed()) throw new ArgumentError("contains half a character (a lone surrogate)");
  return json;
}

/** A text in which hidden characters may stand as they are shown (hidden-characters.ts). */
export function readShownText(json: JsonValue): string {
  const text = readString(json);
  return text.includes(SHOWN_FROM) ? restoreHidden(text) : text;
}

function readBool(json: JsonValue): boolean {
  return typeof json === "boolean" ? json : refuse("true or false", json);
}

function readBytes(json: JsonValue): Uint8Array {
  if (typeof json !== "string") return refuse("base64 text", json);
  if (json === "") return new Uint8Array();
  try {
    return base64Decode(json);
  } catch {
    return refuse("base64 text", json);
  }
}

function readDouble(json: JsonValue): number {
  if (typeof json === "number") return Number.isFinite(json) ? json : refuse("a number in the range of 64 bits", json);
  if (typeof json === "string") {
    const named = NAMED.get(json);
    if (named !== undefined) return named;
    if (NUMERAL.test(json) && Number.isFinite(Number(json))) return Number(json);
  }
  return refuse("a number", json);
}

function readFloat(json: JsonValue): number {
  const value = readDouble(json);
  if (Number.isFinite(value) && Math.abs(value) > MAX_FLOAT) return refuse("a number in the range of 32 bits", json);
  return value;
}

function integerIn({ least, most }: Required<Range>, range: Range): Read {
  const expected = `between ${range.least ?? least} and ${range.most ?? most}`;
  return (json) => {
    const value = typeof json === "string" && NUMERAL.test(json) ? Number(json) : json;
    if (typeof value !== "number" || !Number.isInteger(value)) return refuse("a whole number", json);
    if (value < least || value > most) return refuse(expected, json);
    return value;
  };
}

function bigBetween(least: bigint, most: bigint): Read {
  return (json) => {
    let value: bigint;
    if (typeof json === "number" && Number.isSafeInteger(json)) value = BigInt(json);
    else if (typeof json === "string" && /^-?\d{1,20}$/.test(json)) value = BigInt(json);
    else return refuse("a whole number (as text if above 2^53)", json);
    if (value < least || value > most) return refuse(`between ${least} and ${most}`, json);
    return value;
  };
}
