import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** The bytes that a JSON document in a request has room for, less what surrounds it. */
const DOCUMENT_BYTES = 120 << 10;
/** The longest schema that a custom tool takes, less what surrounds it. */
const SCHEMA_BYTES = 15_000;
const DEEPEST = 58;

/** The worst JSON documents of a field, schemas where its name says so. */
export function worstDocuments(field: string): { readonly kind: string; readonly make: () => JsonObject }[] {
  const schemas = field.includes("schema") ? SCHEMAS : [];
  return [...DOCUMENTS, ...schemas].map(([kind, make]) => ({ kind, make }));
}

const deep = (levels: number, inside: JsonValue): JsonValue =>
  Array.from({ length: levels }).reduce<JsonValue>((inner) => ({ a: inner }), inside);

const DOCUMENTS: readonly (readonly [string, () => JsonObject])[] = [
  ["a deep document", () => deep(DEEPEST, 1) as JsonObject],
  ["a document of many members", () => Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [`m${n}`, n]))],
  ["a document of many numbers", () => ({ a: Array.from({ length: 40_000 }, () => 1) })],
  ["a document of many lists", () => ({ a: Array.from({ length: 40_000 }, () => []) })],
  ["a document of one text", () => ({ a: `${"a".repeat(DOCUMENT_BYTES)}!` })],
];

const SCHEMAS: readonly (readonly [string, () => JsonObject])[] = [
  ["a schema of dear expressions", () => schemaOf({ type: "string", pattern: `^${"(?:a{1,9}){1,9}".repeat(12)}$` })],
  ["a schema of sets", () => schemaOf({ type: "string", pattern: "\\p{L}\\p{N}".repeat(19) })],
  ["a schema of many values", () => ({ type: "object", properties: { a: { type: "string", enum: distinct() } } })],
  [
    "a schema of lists in lists",
    () => schemaOf({ type: "array", items: { type: "array", items: { type: "array", items: { type: "string" } } } }),
  ],
];

function schemaOf(property: JsonObject): JsonObject {
  const count = Math.min(50, Math.floor(SCHEMA_BYTES / (JSON.stringify(property).length + 10)));
  const names = Array.from({ length: count }, (_, n) => `a${n}`);
  return { type: "object", properties: Object.fromEntries(names.map((name) => [name, property])), required: names };
}

const distinct = (): string[] => Array.from({ length: 2_000 }, (_, n) => n.toString(36));

/** The worst bytes of a length, in base64. */
export function worstBytes(bytes: number): { readonly kind: string; readonly make: () => string }[] {
  const of = (kind: string, piece: string) => ({
    kind,
    make: () => Buffer.alloc(bytes, piece).toString("base64"),
  });
  return [
    of("zeros", "\0"),
    of("nested HTML", "<div>"),
    of("objects of a PDF", "%PDF-1.7\n1 0 obj<</A[[[[[[[[(((((<<<<<<"),
    of("heads of a ZIP file", "PK\u0003\u0004"),
    of("many short words", "a b c "),
  ];
}
