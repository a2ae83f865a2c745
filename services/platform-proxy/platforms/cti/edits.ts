import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { dateOf } from "../../../shared/dates.js";
import { aborted, invalidArgument } from "../../../shared/rpc/errors.js";
import { withOutcomeSaid } from "../../../shared/rpc/write-outcome.js";
import { shorten } from "../../../shared/tools/shorten.js";

/** One change of a field as the platform takes it. */
export interface Edit {
  readonly key: string;
  readonly value: readonly (string | number | boolean)[];
  readonly operation?: "replace";
}

/** A value of a field, as it is asked for and as it is told; the order of several does not count. */
export type Value = string | number | boolean | readonly string[] | undefined;

/**
 * A field that a tool may change: our word for it, the platform's, the value
 * that is asked for, and what is sent in its place where the platform takes it
 * by an id.
 */
export type Field = readonly [word: string, key: string, asked: Value, sent?: string];

/** The edits of the fields that a value is asked for. @throws ConnectError invalid_argument, where none is. */
export function editsOf(fields: readonly Field[]): Edit[] {
  const edits = fields.flatMap(([, key, asked, sent = asked]): Edit[] => {
    if (sent === undefined) return [];
    return [typeof sent === "object" ? { key, value: sent, operation: "replace" } : { key, value: [sent] }];
  });
  if (edits.length === 0) throw invalidArgument("give at least one field to change");
  return edits;
}

/** A time as the platform writes it. */
export const isoOf = (time: Timestamp | undefined): string | undefined =>
  time === undefined ? undefined : dateOf(time).toISOString();

/** @throws ConnectError invalid_argument, for a period that would end before it begins. */
export function checkPeriod(
  begin: string | undefined,
  end: string | undefined,
  words: readonly [string, string],
): void {
  if (begin !== undefined && end !== undefined && Date.parse(end) < Date.parse(begin))
    throw invalidArgument(`${words[1]}: must not be before ${words[0]}, which is ${begin}`);
}

/** OpenCTI looks for the same period 30 days around it, and reads no date of the year 10000. */
const LATEST = Date.parse("9999-12-01T00:00:00.000Z");

/** @throws ConnectError invalid_argument, for a time that OpenCTI breaks down on. */
export function checkReadable(times: Readonly<Record<string, string | undefined>>): void {
  for (const [argument, time] of Object.entries(times))
    if (time !== undefined && Date.parse(time) > LATEST)
      throw invalidArgument(`${argument}: must be before December 9999; leave it out if there is no end`);
}

/** What an object says of its fields, by our words; times as the platform writes them. */
export type Told = Readonly<Record<string, Value>>;

/**
 * Says where a change came out otherwise than asked, and what changed besides.
 *
 * @throws ConnectError aborted, where nothing of what was asked has changed.
 */
export function noticesOfChange(fields: readonly Field[], before: Told, after: Told): string[] {
  const asked = new Map(fields.map(([word, , value]) => [word, value]));
  const differing = fields.filter(([word, , value]) => value !== undefined && !isSame(after[word], value));
  const given = fields.filter(([, , value]) => value !== undefined);
  const changed = Object.keys(after).filter((word) => !isSame(before[word], after[word]));
  const isCut = differing.some(([word]) => word === CONFIDENCE);
  if (differing.length === given.length && changed.length === 0 && !isCut)
    throw withOutcomeSaid(
      aborted("OpenCTI accepted the change but changed nothing; read the object and try again"),
      Outcome.UNCHANGED,
    );
  return [
    ...differing.map(([word, , value]) => {
      const why = word === CONFIDENCE ? LIMITED : "";
      return `the ${word} is ${wordsOf(after[word], "not set")}, not ${wordsOf(value, "empty")}${why}`;
    }),
    ...changed
      .filter((word) => asked.get(word) === undefined)
      .map(
        (word) =>
          `OpenCTI also changed ${word} from ${wordsOf(before[word], "not set")} to ${wordsOf(after[word], "not set")}`,
      ),
  ];
}

interface Sure {
  readonly confidence?: number | null | undefined;
}

/** Says where the confidence came out otherwise than asked, of objects that are not read whole. */
export const confidenceNotices = (field: Field, before: Sure, after: Sure): string[] =>
  field[2] === undefined
    ? []
    : noticesOfChange([field], { confidence: toldOf(before.confidence) }, { confidence: toldOf(after.confidence) });

/** The field that OpenCTI limits to the account's maximum, even if that is the value from before. */
const CONFIDENCE = "confidence";
const LIMITED = ": OpenCTI limits it to your account's maximum";

/** Says that a new object got another confidence than asked. */
export const confidenceNotice = (written: number | null | undefined, asked: number): string =>
  `the confidence is ${written ?? "not set"}, not ${asked}${LIMITED}`;

/** So much of a value is told, in characters. */
const MAX_TOLD = 100;

const wordsOf = (value: Value, none: string): string =>
  isEmpty(value) ? none : shorten([value].flat().join(", "), MAX_TOLD);

const isSame = (one: Value, other: Value): boolean =>
  one === other ||
  (typeof one === "object" && typeof other === "object" && one.toSorted().join() === other.toSorted().join()) ||
  (isEmpty(one) && isEmpty(other)) ||
  (isTime(one) && isTime(other) && Date.parse(one) === Date.parse(other));

const isEmpty = (value: Value): boolean =>
  value === undefined || value === "" || (typeof value === "object" && value.length === 0);

const isTime = (value: Value): value is string => typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value);

/** A value for what an object says; undefined where the platform has none. */
export const toldOf = <T extends string | number | boolean>(value: T | null | undefined): T | undefined =>
  value ?? undefined;
