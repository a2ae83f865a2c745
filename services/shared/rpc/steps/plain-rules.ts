import { type DescField, type DescMessage, getOption, hasOption, type Message, ScalarType } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import {
  type FieldRules,
  FieldRulesSchema,
  field as fieldRules,
  Ignore,
  message as messageRules,
  oneof as oneofRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

// The validator of the library walks each request by reflection, which takes longer than to answer some of them. Most
// rules are comparisons. So these come first: a request that keeps them is certainly valid, and every other one is for
// the library, which says what is wrong.

/** Whether a value certainly keeps the rules; false if only the library can tell. */
type Check = (value: never) => boolean;

/** Messages whose comparisons are being compiled, and these once they are. */
type Around = ReadonlyMap<DescMessage, { readonly check: Check }>;

type Members = Readonly<Record<string, unknown>>;

/** Compiles the comparisons of a message. They never hold where a rule is no comparison. */
export function compilePlainRules(desc: DescMessage): (message: Message) => boolean {
  return (messageCheckOf(desc, new Map()) ?? holds) as (message: Message) => boolean;
}

const holds = (): boolean => true;
const cannotTell = (): boolean => false;

/**
 * The comparisons of a message and of what is in it; undefined if it has no rules.
 *
 * @param around the messages that it is in, one of which may be the same.
 */
function messageCheckOf(desc: DescMessage, around: Around): Check | undefined {
  if (desc.typeName.startsWith("google.protobuf.")) return undefined;
  if (hasOption(desc, messageRules)) return cannotTell;
  const outer = around.get(desc);
  if (outer !== undefined) return (value) => outer.check(value);
  const own = { check: holds as Check };
  const checks = membersOf(desc, new Map(around).set(desc, own));
  if (checks.length === 0) return undefined;
  own.check = (value) => checks.every((check) => check(value));
  return own.check;
}

function membersOf(desc: DescMessage, around: Around): Check[] {
  const checks: Check[] = [];
  for (const oneof of desc.oneofs) {
    const { required } = getOption(oneof, oneofRules);
    const name = oneof.localName;
    if (required) checks.push((value: Members) => (value[name] as { case?: string }).case !== undefined);
  }
  for (const field of desc.fields) {
    const check = fieldCheckOf(field, around);
    if (check === undefined) continue;
    const { localName: name, oneof } = field;
    if (oneof === undefined) checks.push((value: Members) => check(value[name] as never));
    else {
      const member = oneof.localName;
      checks.push((value: Members) => {
        const chosen = value[member] as { case?: string; value?: unknown };
        return chosen.case !== name || check(chosen.value as never);
      });
    }
  }
  return checks;
}

function fieldCheckOf(field: DescField, around: Around): Check | undefined {
  const rules = getOption(field, fieldRules);
  const check = valueCheckOf(field, rules, around);
  if (rules.required) return requiredOf(field, check ?? holds);
  // What is not given has nothing to keep.
  return check && ((value: unknown) => value === undefined || check(value as never));
}

function requiredOf({ fieldKind }: DescField, check: Check): Check {
  if (fieldKind === "list") return (value: readonly unknown[]) => value.length > 0 && check(value as never);
  if (fieldKind === "map") return cannotTell;
  return (value: unknown) => !ZEROS.has(value) && check(value as never);
}

const ZEROS: ReadonlySet<unknown> = new Set([undefined, "", 0, 0n, false]);

function valueCheckOf(field: DescField, rules: FieldRules, around: Around): Check | undefined {
  const inside = field.message && messageCheckOf(field.message, around);
  if (field.fieldKind === "map") return inside === undefined && isEmpty(rules) ? undefined : cannotTell;
  if (field.fieldKind !== "list") return bothOf(comparisonOf(field, rules), inside);
  const { value: list } = rules.type as { value?: { items?: FieldRules } };
  const item = bothOf(list?.items && itemCheckOf(field, list.items), inside);
  const all: Check | undefined = item && ((values: readonly unknown[]) => values.every((one) => item(one as never)));
  return bothOf(comparisonOf(field, rules), all);
}

const itemCheckOf = (field: DescField, rules: FieldRules) => (rules.required ? cannotTell : comparisonOf(field, rules));

function bothOf(one: Check | undefined, other: Check | undefined): Check | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (value) => one(value) && other(value);
}

const isEmpty = (rules: FieldRules): boolean => rules.type.case === undefined && !rules.required && isPlain(rules);

/** Nothing but standard rules: no expressions, and no word on when they count. */
function isPlain({ cel, celExpression, ignore }: FieldRules): boolean {
  return cel.length + celExpression.length === 0 && ignore === Ignore.UNSPECIFIED;
}

/** What the standard rules of a value compare; undefined if it has no rules. */
function comparisonOf(field: DescField, rules: FieldRules): Check | undefined {
  if (!isPlain(rules) || (rules.$unknown ?? []).length > 0) return cannotTell;
  const { case: kind, value: standard } = rules.type;
  if (kind === undefined) return undefined;
  const members = reflect(FieldRulesSchema.field[kind].message as DescMessage, standard as Message);
  if ((members.getUnknown() ?? []).length > 0) return cannotTell;
  let check: Check | undefined;
  for (const rule of members.fields) {
    if (!members.isSet(rule)) continue;
    const comparison = COMPARISONS[`${kind}.${rule.localName}`] ?? COMPARISONS[rule.localName] ?? (() => cannotTell);
    check = bothOf(check, comparison(members.get(rule) as never, field));
  }
  return check;
}

const UUID = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;

/** The pattern of a text with a character that is not white space. */
const NOT_BLANK = "\\S";

/** By the name of the rule. A character takes one or two code units, so a length may be more than a comparison tells. */
const COMPARISONS: Readonly<Record<string, (bound: never, field: DescField) => Check>> = {
  "string.minLen": (least: bigint) => (text: string) => text.length > 2 * (Number(least) - 1),
  "string.maxLen": (most: bigint) => (text: string) => text.length <= Number(most),
  "string.maxBytes": (most: bigint) => (text: string) => text.length * 3 <= Number(most),
  // The library's pattern has fewer characters that are white space, and other patterns may take long to match.
  "string.pattern": (pattern: string) => (pattern === NOT_BLANK ? (text: string) => /\S/.test(text) : cannotTell),
  "string.in": (texts: Iterable<string>) => {
    const taken = new Set(texts);
    return (text: string) => taken.has(text);
  },
  "string.uuid": () => (text: string) => UUID.test(text),
  "repeated.minItems": (least: bigint) => (values: readonly unknown[]) => values.length >= Number(least),
  "repeated.maxItems": (most: bigint) => (values: readonly unknown[]) => values.length <= Number(most),
  "repeated.unique": (_, { scalar }) =>
    scalar === ScalarType.STRING
      ? (values: readonly string[]) => values.length < 2 || new Set(values).size === values.length
      : (values: readonly unknown[]) => values.length < 2,
  // Its rules are compared one by one.
  "repeated.items": () => holds,
  "enum.definedOnly": (_, field) => {
    const defined = new Set(field.enum?.values.map((value) => value.number));
    return (value: number) => defined.has(value);
  },
  "enum.in": (words: Iterable<number>) => {
    const taken = new Set(words);
    return (value: number) => taken.has(value);
  },
  "enum.notIn": (words: Iterable<number>) => {
    const refused = new Set(words);
    return (value: number) => !refused.has(value);
  },
  gt: (bound: number | bigint) => (value: number | bigint) => value > bound,
  gte: (bound: number | bigint) => (value: number | bigint) => value >= bound,
  lt: (bound: number | bigint) => (value: number | bigint) => value < bound,
  lte: (bound: number | bigint) => (value: number | bigint) => value <= bound,
};
