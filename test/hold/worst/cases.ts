import { type DescField, type DescMessage, type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import type { FieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { boundsOf, MAX_MESSAGE_BYTES } from "../../../services/shared/rpc/bounds.js";
import { worstBytes, worstDocuments } from "./documents.js";
import { boundsOfNumber, type Known, plainItem, plainRequest } from "./plain.js";
import { broken, cutTo, itemRulesOf, matches, mostCharacters, rulesOf } from "./rules.js";
import { ALWAYS, BY_NAME, DOCUMENTS, LONGER } from "./texts.js";

/** A request with the worst that one of its fields, or all of them, may hold. */
export interface Case {
  /** The field's path, or "everything". */
  readonly field: string;
  readonly kind: string;
  readonly make: () => JsonObject;
}

interface Worst {
  readonly kind: string;
  readonly make: () => JsonValue;
}

const LONG = 65;
const A_DOCUMENT = 4_000;
const DEPTH = 3;
/** Room for the envelope of a request. */
const SPARE = 4_096;
/** What everything at once is made of. */
const TOGETHER = [
  "a letter and an end that does not match",
  "four bytes a character",
  "distinct words",
  "quotes",
  "regular expressions",
];

/** The worst requests of a message, with what is known of its fields in place. */
export function casesOf(message: DescMessage, known: Known, plain = plainRequest(message, known)): Case[] {
  const most = boundsOf(message).bytes - SPARE;
  const single = message.fields.flatMap((field) =>
    worstsOf(field, known, DEPTH).map(({ kind, make }) => ({
      field: field.name,
      kind,
      make: () => valid(message, { ...plain, [field.name]: make() }, field.name),
    })),
  );
  const together = TOGETHER.map((kind) => ({
    field: "everything",
    kind,
    make: () => everything(message, plain, known, kind, most),
  }));
  return message.fields.length === 0 ? [] : [...single, ...together];
}

/** Without what does not go together with the field, where that is what its rules say. */
function valid(message: DescMessage, json: JsonObject, field: string): JsonObject {
  const breaks = broken(message, json);
  if (breaks === 0) return json;
  const others = Object.keys(json).filter((name) => name !== field);
  for (const name of others) {
    const { [name]: _, ...rest } = json;
    if (broken(message, rest) < breaks) return rest;
  }
  return json;
}

/** As many fields as the rules allow together, each with its worst, and as many items as fit. */
function everything(message: DescMessage, plain: JsonObject, known: Known, kind: string, most: number): JsonObject {
  let json: JsonObject = plain;
  for (const field of message.fields) {
    const worsts = worstsOf(field, known, DEPTH);
    const worst = worsts.find((one) => one.kind === kind || one.kind.endsWith(` of ${kind}`)) ?? worsts[0];
    if (worst === undefined || known(field) !== undefined) continue;
    const more = { ...json, [field.name]: worst.make() };
    if (broken(message, more) <= broken(message, json) && Buffer.byteLength(JSON.stringify(more)) < most) json = more;
  }
  return json;
}

/** The worst values of a field. */
function worstsOf(field: DescField, known: Known, depth: number): Worst[] {
  if (field.fieldKind === "list") return worstLists(field, known, depth);
  if (field.fieldKind === "map") return worstMaps(field, known, depth);
  return worstItems(field, rulesOf(field), known, depth);
}

function worstItems(field: DescField, rules: FieldRules | undefined, known: Known, depth: number): Worst[] {
  if (field.enum !== undefined || field.scalar === ScalarType.BOOL) return [];
  if (field.message !== undefined) return worstMessages(field.message, field.name, known, depth);
  if (field.scalar === ScalarType.BYTES) return worstBytes(mostCharacters(rules));
  if (field.scalar === ScalarType.STRING) return worstTexts(field, rules);
  const { least, largest } = boundsOfNumber(rules);
  const isLarge = field.scalar === ScalarType.INT64 || field.scalar === ScalarType.UINT64;
  const top = isLarge ? "9223372036854775807" : field.scalar === ScalarType.DOUBLE ? 1e308 : 2_147_483_647;
  return [
    { kind: "the largest number", make: () => largest ?? top },
    { kind: "the least number", make: () => least ?? 0 },
  ];
}

function worstMessages(message: DescMessage, name: string, known: Known, depth: number): Worst[] {
  if (message.typeName === "google.protobuf.Struct") return worstDocuments(name);
  if (message.typeName === "google.protobuf.Timestamp") {
    return [
      { kind: "the last date", make: () => "9999-12-31T23:59:59.999999999Z" },
      { kind: "the first date", make: () => "0001-01-01T00:00:00Z" },
    ];
  }
  if (message.typeName === "google.protobuf.Duration")
    return [{ kind: "the longest time", make: () => "315576000000s" }];
  if (depth === 0) return [];
  const plain = plainRequest(message, known);
  return message.fields.flatMap((field) =>
    worstsOf(field, known, depth - 1).map(({ kind, make }) => ({
      kind: `${field.name}: ${kind}`,
      make: () => ({ ...plain, [field.name]: make() }),
    })),
  );
}

function worstTexts(field: DescField, rules: FieldRules | undefined): Worst[] {
  if (rules?.type.case === "string" && (rules.type.value.in.length > 0 || rules.type.value.const !== "")) return [];
  const most = mostCharacters(rules);
  const texts = {
    ...ALWAYS,
    ...(most >= LONG && LONGER),
    ...(most >= A_DOCUMENT && DOCUMENTS),
    ...Object.assign({}, ...BY_NAME.filter(([names]) => names.test(field.name)).map(([, named]) => named)),
  } as typeof ALWAYS;
  return Object.entries(texts).flatMap(([kind, make]) => {
    const text = (): string => cutTo(rules, make(most));
    return matches(rules, text()) ? [{ kind, make: text }] : [];
  });
}

/** As long as a body may be, less what surrounds the items. */
const MOST_ITEMS_BYTES = MAX_MESSAGE_BYTES - (64 << 10);
const MOST_ITEMS = 45_000;

/** As many of an item as there may be, each told from the others. */
function worstLists(field: DescField & { fieldKind: "list" }, known: Known, depth: number): Worst[] {
  const { most, values } = itemRulesOf(field);
  const items = worstItems(field, values, known, depth - 1);
  const kinds = items.length > 0 ? items : [{ kind: "plain", make: () => plainItem(field, values, known) }];
  return kinds.map(({ kind, make }) => ({ kind: `${most} of ${kind}`, make: () => manyOf(make(), most, values) }));
}

function worstMaps(field: DescField & { fieldKind: "map" }, known: Known, depth: number): Worst[] {
  const { most, values } = itemRulesOf(field);
  const items = worstItems(field, values, known, depth - 1);
  const kinds = items.length > 0 ? items : [{ kind: "plain", make: () => plainItem(field, values, known) }];
  return kinds.map(({ kind, make }) => ({
    kind: `${most} of ${kind}`,
    make: () => Object.fromEntries(manyOf(make(), most, values).map((value, n) => [`a${n}`, value])),
  }));
}

function manyOf(item: JsonValue, most: number, rules: FieldRules | undefined): JsonValue[] {
  const bytes = Buffer.byteLength(JSON.stringify(item)) + 1;
  const parts = JSON.stringify(item).split(/[,:[{]/).length;
  const count = Math.max(1, Math.min(most, Math.floor(MOST_ITEMS_BYTES / bytes), Math.floor(MOST_ITEMS / parts)));
  return Array.from({ length: count }, (_, n) => toldApart(item, n, rules));
}

/** The item with a number in it, where it is a text whose rules leave it room. */
function toldApart(item: JsonValue, n: number, rules: FieldRules | undefined): JsonValue {
  if (typeof item === "number") return item;
  if (typeof item !== "string") return toldApartMessage(item, n);
  const number = String(n);
  for (const told of [`${number}${item.slice(number.length)}`, `${item.slice(0, -number.length)}${number}`]) {
    if (!/\p{Surrogate}/u.test(told) && matches(rules, told)) return told;
  }
  return item;
}

function toldApartMessage(item: JsonValue, n: number): JsonValue {
  if (item === null || typeof item !== "object" || Array.isArray(item)) return item;
  const name = ["name", "key", "path", "to", "id"].find((member) => typeof item[member] === "string");
  return name === undefined ? item : { ...item, [name]: toldApart(item[name]!, n, undefined) };
}
