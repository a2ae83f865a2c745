import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import type { EnumRules, FieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { broken, itemRulesOf, matches, rulesOf } from "./rules.js";

/** Gives what a field takes by its name, an id for one; undefined where it knows none. */
export type Known = (field: DescField) => JsonValue | undefined;

/** Texts of the forms that patterns and formats ask for; the first that fits is taken. */
const SAMPLES = [
  ..."worst|a/b|core/list_agents|0 0 1 * * *|CWE-79|00:11:22:33:44:55|text/plain".split("|"),
  ...["a@example.com", "https://example.com/", "192.0.2.1", "example.com"],
];
const FORMATS: Readonly<Record<string, string>> = {
  email: "a@example.com",
  uri: "https://example.com/",
  uriRef: "https://example.com/",
  hostname: "example.com",
  ip: "192.0.2.1",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uuid: "0198c2a4-0000-7000-8000-000000000000",
};
const CHANGED = /^(description|name|title|content|cancel)$/;
const MOST_ADDED = 4;
/** Words that services take where neither rules nor tools say which: by the API and the name of the field. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\.(url|endpoint|website)$/, "https://example.com/"],
  [/\.query$/, "an"],
  [/\.cve_id$/, "CVE-2014-0160"],
  [/^core\.path$/, "references/markings.md"],
  [/^traces\.field$/, "input"],
  [/^auth\.email$/, "ana@example.org"],
  [/^catalogue\.server$/, "grc"],
  [/^catalogue\.tool$/, "list_controls"],
  [/\.(content|template|instructions|input|question)$/, "worst"],
  [/^cti\.(type|types|from_type|to_type|entity_type|target_type)$/, "Malware"],
  [/^cti\.relationship_types?$/, "related-to"],
  [/^cti\.pattern$/, "[ipv4-addr:value = '192.0.2.1']"],
  [/^cti\.value$/, "192.0.2.1"],
  [/^cti\.context$/, "unspecified"],
  [/^cti\.opinion$/, "agree"],
  [/^cti\.field$/, "entity_type"],
  [/^cti\.key$/, "name"],
  [/^cti\.markings?$/, "TLP:GREEN"],
  [/^cti\.category$/, "malware_type_ov"],
  [/^cti\.other_types$/, "Malware"],
];

/** Which of the arguments that need not be given a plain request has: of the ids that are known all, all that go together mostly, none, or the tenant's. */
export const EXTENTS = ["known", "one", "needed", "tenant"] as const;
/** One of {@link EXTENTS}. */
export type Extent = (typeof EXTENTS)[number];

/** A request that breaks no rule and is as plain as can be: what is required, and what else its rules ask for. */
export function plainRequest(message: DescMessage, known: Known, extent: Extent = "needed"): JsonObject {
  let json = plainMessage(message, known, extent);
  for (let added = 0; added < MOST_ADDED && broken(message, json) > 0; added++) {
    const more = message.fields
      .filter(({ name }) => json[name] === undefined)
      .map((field) => ({ ...json, [field.name]: plainValue(field, known) }));
    const best = more.toSorted((a, b) => broken(message, a) - broken(message, b))[0];
    if (best === undefined || broken(message, best) > broken(message, json)) break;
    json = best;
  }
  return changing(message, json, known);
}

/** An update changes something: what its rules do not ask for, its service does. */
function changing(message: DescMessage, json: JsonObject, known: Known): JsonObject {
  if (!/\.(?:Update|Revise)\w+Request$/.test(message.typeName)) return json;
  const optional = message.fields.filter(({ name }) => CHANGED.test(name));
  if (optional.some(({ name }) => json[name] !== undefined)) return json;
  const more = optional.map((field) => ({ ...json, [field.name]: plainValue(field, known) }));
  return more.find((one) => broken(message, one) === 0) ?? json;
}

function plainMessage(message: DescMessage, known: Known, extent: Extent = "needed"): JsonObject {
  const needed = message.fields.filter(
    (field) => isNeeded(field) || isAlso(field) || (isWithin(extent, field) && known(field) !== undefined),
  );
  return Object.fromEntries(needed.map((field) => [field.name, plainValue(field, known)]));
}

/** What neither rules nor comments ask for, but the service. */
const ALSO: ReadonlySet<string> = new Set([
  "core.v1.CreateDocumentRequest.content",
  "cti.v1.AddExternalReferenceRequest.url",
]);
const isAlso = ({ parent, name }: DescField): boolean => ALSO.has(`${parent.typeName}.${name}`);

function isWithin(extent: Extent, { name }: DescField): boolean {
  if (extent === "needed") return false;
  return extent === "known" || name === "tenant_id" || (extent === "one" && name !== "simulation_id");
}

function isNeeded(field: DescField): boolean {
  const rules = rulesOf(field);
  if (rules?.required) return true;
  if (rules?.type.case === "repeated") return rules.type.value.minItems > 0n;
  if (field.oneof !== undefined || rules?.type.case !== "string") return false;
  // Absence breaks no rule of an optional field.
  return field.proto.proto3Optional === false && (rules.type.value.minLen > 0n || rules.type.value.pattern !== "");
}

/** A plain value of a field. */
export function plainValue(field: DescField, known: Known): JsonValue {
  const given = known(field);
  if (field.fieldKind === "list") return [given ?? plainItem(field, itemRulesOf(field).values, known)];
  if (field.fieldKind === "map") return { a: plainItem(field, itemRulesOf(field).values, known) };
  return given ?? plainItem(field, rulesOf(field), known);
}

/** A plain value of a field that holds one, or of an item of one that holds several. */
export function plainItem(field: DescField, rules: FieldRules | undefined, known: Known): JsonValue {
  if (field.enum !== undefined) return plainEnum(field.enum, rules);
  if (field.message !== undefined) return plainWellKnown(field.message) ?? plainMessage(field.message, known);
  if (field.scalar === ScalarType.BOOL) return true;
  if (field.scalar === ScalarType.BYTES) return "AAAA";
  if (field.scalar !== ScalarType.STRING) return plainNumber(rules);
  if (rules?.type.case !== "string") return "worst";
  const { value } = rules.type;
  if (value.const !== "") return value.const;
  if (value.in[0] !== undefined) return value.in.find((one) => one !== "") ?? "";
  const named = `${field.parent.typeName.split(".")[0]}.${field.name}`;
  const word = WORDS.find(([names]) => names.test(named))?.[1];
  if (word !== undefined && matches(rules, word)) return word;
  const format = FORMATS[value.wellKnown.case ?? ""];
  if (format !== undefined) return format;
  return SAMPLES.find((sample) => matches(rules, sample)) ?? "worst";
}

function plainEnum({ values }: DescEnum, rules: FieldRules | undefined): JsonValue {
  const barred = rules?.type.case === "enum" ? (rules.type.value as EnumRules).notIn : [];
  return values.find(({ number }) => number !== 0 && !barred.includes(number))?.name ?? values[0]!.name;
}

function plainWellKnown({ typeName }: DescMessage): JsonValue | undefined {
  if (typeName === "google.protobuf.Timestamp") return "2026-01-01T00:00:00Z";
  if (typeName === "google.protobuf.Duration") return "1s";
  if (typeName === "google.protobuf.Struct") return {};
  return undefined;
}

function plainNumber(rules: FieldRules | undefined): number {
  const { least } = boundsOfNumber(rules);
  return Math.max(1, least ?? 1);
}

/** The least and the largest number that the rules allow, where they say. */
export function boundsOfNumber(rules: FieldRules | undefined): {
  readonly least: number | undefined;
  readonly largest: number | undefined;
} {
  const value = rules?.type.value as
    | {
        readonly greaterThan?: { readonly case?: string; readonly value?: number | bigint };
        readonly lessThan?: { readonly case?: string; readonly value?: number | bigint };
      }
    | undefined;
  const of = (bound: { readonly case?: string; readonly value?: number | bigint } | undefined, step: number) =>
    bound?.value === undefined
      ? undefined
      : Number(bound.value) + (bound.case === "gt" || bound.case === "lt" ? step : 0);
  return { least: of(value?.greaterThan, 1), largest: of(value?.lessThan, -1) };
}
