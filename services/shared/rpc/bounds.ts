import { type DescField, type DescMessage, getOption, ScalarType } from "@bufbuild/protobuf";
import { type FieldRules, field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { Shape } from "./wire.js";

// How much a request may hold follows from the rules of its fields: each text
// has a length, each list a number of items (test/proto holds that). Other
// people's messages state none; theirs stand here.

/** What a request may hold at most. */
export interface Bounds extends Shape {
  /** Bytes of its longest encoding, which is JSON with everything escaped. */
  readonly bytes: number;
  /** Of more bytes than this it is not read in the loop that serves others: its method is given it as it came (unread.ts). */
  readonly unread?: number;
}

/** The longest message of any rpc of ours, in bytes. */
export const MAX_MESSAGE_BYTES = 4 << 20;
/** The most text of a message of ours, in bytes of UTF-8: 2 MiB of a skill's files, its instructions, and as much again. */
export const MAX_TEXT = 5 << 19;
/** The longest export of spans, in bytes: batches of an SDK may hold whole conversations. */
export const MAX_EXPORT_BYTES = 16 << 20;
/** The most elements of a message of ours: some 40 ms of decoding. */
export const MAX_ELEMENTS = 50_000;
/** The most elements of an export of spans, as many as of JSON (json-shape.ts): 512 spans, as SDKs send them, of 40 attributes each. */
const MAX_EXPORT_ELEMENTS = 100_000;
/** The longest export that is read in the loop that serves others: at most 100 spans, and some milliseconds. */
const MAX_EXPORT_READ_HERE = 4 << 10;
/** The deepest message; a list of OpenTelemetry values takes three levels a list. */
export const MAX_DEPTH = 64;

/** Bounds of other people's messages, which state none: the one place where they stand. */
export const FOREIGN_BOUNDS: Readonly<Record<string, Bounds>> = {
  // Attributes, events and links of a span are bounded in services/traces/span.ts, spans in export-spans.ts.
  "opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest": {
    bytes: MAX_EXPORT_BYTES,
    elements: MAX_EXPORT_ELEMENTS,
    depth: MAX_DEPTH,
    unread: MAX_EXPORT_READ_HERE,
  },
  // As a message of ours: it is read in the loop that serves others. Its records are bounded in services/traces/event.ts.
  "opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest": {
    bytes: MAX_MESSAGE_BYTES,
    elements: MAX_ELEMENTS,
    depth: MAX_DEPTH,
  },
  // A name of a service.
  "grpc.health.v1.HealthCheckRequest": { bytes: 4 << 10, elements: 16, depth: 1 },
  // A name of a file, a type or an rpc.
  "grpc.reflection.v1.ServerReflectionRequest": { bytes: 4 << 10, elements: 32, depth: 2 },
};

/** Messages of google.protobuf that hold numbers alone. */
export const FIXED_SIZE: ReadonlySet<string> = new Set(["google.protobuf.Timestamp", "google.protobuf.Duration"]);

/** Messages of google.protobuf that are a JSON document, whose size and depth the service checks: bytes that a request has room for. */
export const DOCUMENTS: ReadonlySet<string> = new Set(["google.protobuf.Struct"]);
const BYTES_A_DOCUMENT = 128 << 10;

/** For white space, unknown fields and an encoding's own words. */
const SPARE_BYTES = 64 << 10;
/** A character outside the BMP as JSON escapes: two times \uXXXX. */
const BYTES_A_CHARACTER = 12;
/** A byte of text as a JSON escape. */
const BYTES_A_BYTE = 6;
/** Any number, bool or time as JSON. */
const BYTES_A_SCALAR = 40;
const BYTES_AN_ENUM = 80;
/** Of a UUID, an IP address or another format of a fixed form. */
const FORMAT_LENGTH = 64;
const FIXED_FORMATS: ReadonlySet<string> = new Set(["uuid", "tuuid", "ulid", "ip", "ipv4", "ipv6"]);

const known = new WeakMap<DescMessage, Bounds>();

/** What a request message may hold, from the rules of its fields. */
export function boundsOf(request: DescMessage): Bounds {
  const foreign = FOREIGN_BOUNDS[request.typeName];
  if (foreign !== undefined) return foreign;
  let bounds = known.get(request);
  if (bounds === undefined) {
    const bytes = Math.min(MAX_MESSAGE_BYTES, SPARE_BYTES + sizeOf(request, []));
    bounds = { bytes, elements: MAX_ELEMENTS, depth: MAX_DEPTH };
    known.set(request, bounds);
  }
  return bounds;
}

/** The longest text that a field's rules allow, in characters or bytes; undefined where they allow any. */
export function lengthOf({ type }: FieldRules): { readonly chars: number } | { readonly bytes: number } | undefined {
  if (type.case !== "string" && type.case !== "bytes") return undefined;
  const { value } = type;
  const format = value.wellKnown.case;
  if (format !== undefined && FIXED_FORMATS.has(format)) return { chars: FORMAT_LENGTH };
  if (value.const.length > 0) return { chars: value.const.length };
  if (value.in.length > 0) return { chars: Math.max(...value.in.map((one) => one.length)) };
  const chars = value.maxLen || value.len;
  if (type.case === "bytes") return chars ? { bytes: Number(chars) } : undefined;
  const bytes = type.value.maxBytes || type.value.lenBytes;
  if (chars) return { chars: Number(chars) };
  return bytes ? { bytes: Number(bytes) } : undefined;
}

/** The rules of a list's items, or of a map's keys and values. */
export function innerRulesOf({ type }: FieldRules): {
  readonly most: number | undefined;
  readonly keys?: FieldRules | undefined;
  readonly values?: FieldRules | undefined;
} {
  if (type.case === "repeated") return { most: numberOf(type.value.maxItems), values: type.value.items };
  if (type.case === "map") {
    return { most: numberOf(type.value.maxPairs), keys: type.value.keys, values: type.value.values };
  }
  return { most: undefined };
}

function numberOf(count: bigint): number | undefined {
  return count === 0n ? undefined : Number(count);
}

/** Bytes of the longest JSON; Infinity where something has no bound. */
function sizeOf(message: DescMessage, path: readonly DescMessage[]): number {
  if (FIXED_SIZE.has(message.typeName)) return BYTES_A_SCALAR;
  if (DOCUMENTS.has(message.typeName)) return BYTES_A_DOCUMENT;
  if (path.includes(message)) return Number.POSITIVE_INFINITY;
  const within = [...path, message];
  return message.fields.reduce((sum, field) => sum + field.jsonName.length + 8 + sizeOfField(field, within), 2);
}

function sizeOfField(field: DescField, path: readonly DescMessage[]): number {
  const rules = getOption(field, fieldRules);
  if (field.fieldKind !== "list" && field.fieldKind !== "map") return sizeOfValue(field, rules, path);
  const { most = Number.POSITIVE_INFINITY, keys, values } = innerRulesOf(rules);
  const key = field.fieldKind === "map" ? sizeOfScalar(field.mapKey, keys) : 0;
  return most * (key + sizeOfValue(field, values, path) + 4);
}

function sizeOfValue(field: DescField, rules: FieldRules | undefined, path: readonly DescMessage[]): number {
  if (field.message !== undefined) return sizeOf(field.message, path);
  return field.enum === undefined ? sizeOfScalar(field.scalar as ScalarType, rules) : BYTES_AN_ENUM;
}

function sizeOfScalar(type: ScalarType, rules: FieldRules | undefined): number {
  if (type !== ScalarType.STRING && type !== ScalarType.BYTES) return BYTES_A_SCALAR;
  const length = rules === undefined ? undefined : lengthOf(rules);
  if (length === undefined) return Number.POSITIVE_INFINITY;
  return "chars" in length ? length.chars * BYTES_A_CHARACTER : length.bytes * BYTES_A_BYTE;
}
