import { create, type DescMessage, type DescMethod, getOption, isMessage, type Message } from "@bufbuild/protobuf";
import { pathToString } from "@bufbuild/protobuf/reflect";
import { createValidator, type Violation, violationsToProto } from "@bufbuild/protovalidate";
import { ViolationSchema, ViolationsSchema } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { Code, ConnectError } from "@connectrpc/connect";
import { form } from "#proto/mcp/v1/tool_pb.js";
import { valuesTakenBy, wordOf } from "../../tools/enums.js";
import { internal } from "../errors.js";
import { compilePlainRules } from "./plain-rules.js";

const validator = createValidator();
const plainRules = new Map<DescMessage, (message: Message) => boolean>();
/** How many broken rules are told one by one: each item of a list may break one. */
const MOST_TOLD = 20;

/**
 * Checks a request against the rules that its message states (buf.validate).
 *
 * @throws ConnectError invalid_argument with one violation for each broken rule, in words.
 */
export function checkRules(desc: DescMethod, request: Message): void {
  if (!isMessage(request)) throw new TypeError(`${desc.name}: the request is not a message`);
  if (keepsPlainRules(desc.input, request)) return;
  const result = validator.validate(desc.input, request);
  if (result.kind === "valid") return;
  if (result.kind === "error") throw internal("the rules of this rpc cannot be checked", result.error);
  const broken = result.violations.slice(0, MOST_TOLD);
  const value = violationsToProto(broken)[0]!;
  const lines = broken.map((violation, i) => {
    const told = value.violations[i]!;
    const members = membersOf(violation);
    if (members !== undefined) {
      // A oneof is none of the names that a caller writes: its members are.
      told.message = `give exactly one of ${members.join(", ")}`;
      delete told.field;
      return told.message;
    }
    if (violation.ruleId === "string.pattern") told.message = `must be ${formOf(violation)}`;
    told.message = inWords(told.message);
    if (violation.ruleId.startsWith("enum.")) told.message = `must be one of ${wordsOf(violation).join(", ")}`;
    return violation.field.length === 0 ? told.message : `${pathToString(violation.field)}: ${told.message}`;
  });
  const more = result.violations.length - broken.length;
  if (more > 0) {
    const message = `${more} more values break a rule`;
    value.violations.push(create(ViolationSchema, { message }));
    lines.push(message);
  }
  throw new ConnectError(lines.join("; "), Code.InvalidArgument, undefined, [{ desc: ViolationsSchema, value }]);
}

function keepsPlainRules(desc: DescMessage, request: Message): boolean {
  let keeps = plainRules.get(desc);
  if (keeps === undefined) {
    keeps = compilePlainRules(desc);
    plainRules.set(desc, keeps);
  }
  return keeps(request);
}

/** The names of a oneof's fields, where the broken rule is a oneof's. */
function membersOf({ field }: Violation): string[] | undefined {
  const last = field.at(-1);
  return last?.kind === "oneof" ? last.fields.map(({ name }) => name) : undefined;
}

/** What a text has to be like, in words: a regular expression tells neither a model nor a person. */
function formOf({ field }: Violation): string {
  const last = field.findLast((part) => part.kind === "field");
  return (last === undefined ? "" : getOption(last, form)) || "as the schema says";
}

/** Sentences of the library that read like its rules, and what they mean. */
const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [/^must be greater than or equal to (\S+) and less than or equal to (\S+)$/, "must be between $1 and $2"],
  [/^must be greater than or equal to (\S+)$/, "must be at least $1"],
  [/^must be less than or equal to (\S+)$/, "must be at most $1"],
  [/^must be at least 1 characters$/, "must not be empty"],
  [/^must contain at least 1 item\(s\)$/, "must have at least 1 item"],
  [/^must contain at least (\d+) item\(s\)$/, "must have at least $1 items"],
  [/^must contain no more than (\d+) item\(s\)$/, "must have at most $1 items"],
  [/^must be in list \[(.+)\]$/, "must be one of $1"],
];

function inWords(message: string): string {
  const found = SENTENCES.find(([pattern]) => pattern.test(message));
  return found === undefined ? message : message.replace(found[0], found[1]);
}

/** The words that a field of an enum takes: its rules name them by number. */
function wordsOf({ field }: Violation): string[] {
  const last = field.findLast((part) => part.kind === "field");
  return last === undefined ? [] : valuesTakenBy(last).map((value) => wordOf(value) as string);
}
