import { type DescField, type DescMessage, type JsonObject, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { closest } from "fastest-levenshtein";
import { checkRules } from "../../services/shared/rpc/steps/rules.js";
import { compileDecode, type Decode } from "../../services/shared/tools/codec/decode.js";
import { explain } from "../../services/shared/tools/explain.js";
import type { Tool } from "../../services/shared/tools/tools.js";
import { boundsOfNumber, plainRequest, plainValue } from "../hold/worst/plain.js";
import { itemRulesOf, matches, rulesOf } from "../hold/worst/rules.js";

// A model that makes one mistake in a call reads one sentence, and its second call is
// right. It knows what it wanted to say; the sentence has to say which argument is
// wrong and what the argument takes.

/** One wrong call of a tool. */
export interface Mistake {
  readonly tool: Tool;
  readonly kind: string;
  readonly argument: string;
  /** The call that it should have been. */
  readonly meant: JsonObject;
  readonly made: JsonObject;
}

/** The error of a call, as its model reads it; undefined if nothing is wrong with the arguments. */
export function errorOf({ method }: Tool, args: JsonObject): string | undefined {
  try {
    checkRules(method, decoderOf(method.input)(args));
    return undefined;
  } catch (error) {
    return explain(ConnectError.from(error)) ?? "";
  }
}

/** Compiled once: a tool has dozens of mistakes. */
const decoders = new Map<DescMessage, Decode>();

function decoderOf(input: DescMessage): Decode {
  const decode = decoders.get(input) ?? compileDecode(input);
  decoders.set(input, decode);
  return decode;
}

/** Text of a form that few arguments take. */
const ODD = "§§ §§";
const nothing = (): undefined => undefined;

/** Every single mistake in the calls of a tool. */
export function mistakesIn(tool: Tool): Mistake[] {
  const { input } = tool.method;
  const plain = plainRequest(input, nothing);
  return input.fields.flatMap((field) => {
    const meant = withField(tool, plain, field);
    if (meant === undefined) return [];
    const value = meant[field.name] as JsonValue;
    const { [field.name]: _, ...rest } = meant;
    const wrong = wrongValuesOf(field, value).map(([kind, json]) => ({ kind, made: { ...rest, [field.name]: json } }));
    const named = { kind: "a misspelled name", made: { ...rest, [misspelled(field.name, input)]: value } };
    const isNeeded = errorOf(tool, rest) !== undefined;
    return [...wrong, named, ...(isNeeded ? [{ kind: "left out", made: rest }] : [])].map((one) => ({
      ...one,
      tool,
      argument: field.name,
      meant,
    }));
  });
}

/** A right call that has the field; undefined if no plain one does. */
function withField(tool: Tool, plain: JsonObject, field: DescField): JsonObject | undefined {
  const alone = field.oneof?.fields.map(({ name }) => name) ?? [];
  const kept = Object.fromEntries(Object.entries(plain).filter(([name]) => !alone.includes(name)));
  const candidates = [plain, { ...kept, [field.name]: plainValue(field, nothing) }];
  return candidates.find((args) => field.name in args && errorOf(tool, args) === undefined);
}

function misspelled(name: string, { fields }: DescMessage): string {
  const at = Math.ceil(name.length / 2);
  const wrong = `${name.slice(0, at)}${name.slice(at + 1)}` || "z";
  return fields.some((field) => field.name === wrong || field.jsonName === wrong) ? `${name}x` : wrong;
}

/** Values that the field does not take, each with what is wrong with it. */
function wrongValuesOf(field: DescField, value: JsonValue): [string, JsonValue][] {
  const wrong: [string, JsonValue][] = [];
  const isList = field.fieldKind === "list";
  const rules = isList ? itemRulesOf(field).values : rulesOf(field);
  const put = (kind: string, json: JsonValue): void => void wrong.push([kind, isList ? [json] : json]);
  if (isList) wrong.push(["no list", 7]);
  if (isList && field.message === undefined) {
    const { most } = itemRulesOf(field);
    if (most > 1 && most <= 1_000)
      wrong.push(["too many", Array.from({ length: most + 1 }, () => (value as JsonValue[])[0] as JsonValue)]);
  }
  if (field.enum !== undefined) put("no word of its own", "no_such_word");
  else if (field.message !== undefined) put("no object", 7);
  else if (field.scalar === ScalarType.STRING) {
    put("another type", 7);
    if (rules?.type.case === "string") {
      const { maxLen, in: words, pattern, wellKnown } = rules.type.value;
      if (maxLen > 0n && maxLen < 100_000n) put("too long", "a".repeat(Number(maxLen) + 1));
      if (words.length > 0) put("no word of its own", "no_such_word");
      const isRefused = wellKnown.case !== undefined || !matches(rules, ODD);
      if ((pattern !== "" || wellKnown.case !== undefined) && isRefused) put("another form", ODD);
    }
  } else if (field.scalar === ScalarType.BOOL) put("another type", "perhaps");
  else if (field.scalar !== ScalarType.BYTES) {
    const { least, largest } = boundsOfNumber(rules);
    put("another type", "many");
    if (least !== undefined) put("too small", least - 1);
    if (largest !== undefined) put("too large", largest + 1);
  }
  return wrong;
}

/** The second call, made from the first and the error alone; undefined if the error does not say what to do. */
export function repaired({ made, meant, argument, kind }: Mistake, error: string): JsonObject | undefined {
  if (kind === "a misspelled name") {
    const [, given = "", one, several] =
      /^unknown argument "(.+)": (?:did you mean "(.+)"\?|known are (.+))/.exec(error) ?? [];
    const { [given]: value, ...rest } = made;
    const names = several?.split(", ").filter((name) => !(name in rest)) ?? [];
    const name = one ?? (names.length === 0 ? undefined : closest(given, names));
    return name === undefined || value === undefined ? undefined : { ...rest, [name]: value };
  }
  const line = error.split("\n").find((one) => new RegExp(`(^|\\W)${argument}\\b`).test(one));
  if (line === undefined) return undefined;
  const right = GIVE.test(line) ? meant[argument] : valueFor(line, meant[argument] as JsonValue);
  return right === undefined ? undefined : { ...made, [argument]: right };
}

/** What to give if something is missing. */
const GIVE = /(^|: )give (?:a |exactly one of |at least one of )?\w/;
/** What an argument takes, in words. */
const TAKES =
  /value is required|is not a time such as "|must be (?!of another form)\w|must (?:have|contain|not|start)\b|takes? |needs \w|at (?:least|most) \d/;

/** The value that was meant, in the form that the line asks for; undefined if it asks for none. */
function valueFor(line: string, meant: JsonValue): JsonValue | undefined {
  const put = (value: JsonValue): JsonValue => (Array.isArray(meant) ? [value] : value);
  const words = /(?:is not|must be) one of (.+)$/.exec(line)?.[1] ?? /must be in list \[(.+)\]/.exec(line)?.[1];
  if (words !== undefined) return put(words.split(", ")[0] as string);
  const bound = /must be (?:greater|less) than(?: or equal to)? (-?\d+(?:\.\d+)?)/.exec(line);
  if (bound !== null) return put(Number(bound[1]));
  return TAKES.test(line) ? meant : undefined;
}
