import type { DescMethod } from "@bufbuild/protobuf";
import { hasOption } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { tool } from "#proto/mcp/v1/tool_pb.js";
import { WriteFailure_Outcome as Outcome, WriteFailureSchema } from "#proto/mcp/v1/write_failure_pb.js";

/** What became of a write that failed; see mcp.v1.WriteFailure. */
export type WriteOutcome = Exclude<Outcome, Outcome.UNSPECIFIED>;

/** Codes after which a write may have been made, unless the code that raises them knows better. */
const OPEN: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.DeadlineExceeded,
  Code.Internal,
  Code.Unknown,
  Code.DataLoss,
  Code.Canceled,
]);

/** Codes whose sentence does not make plain that nothing was changed; a refusal's does. */
const FAILURES: ReadonlySet<Code> = new Set([Code.Unavailable, Code.DeadlineExceeded, Code.ResourceExhausted]);

const PARTLY = "; at least a part of the change was made: read before you try again";
const UNKNOWN =
  "; the change may or may not have been made: read before you try again, and repeat only what is missing";
const UNCHANGED = "; nothing was changed";

/** Whether an rpc is a tool that changes something: its errors say what became of the change. */
export function isWriteTool(method: DescMethod): boolean {
  return method.idempotency !== Idempotency.NO_SIDE_EFFECTS && hasOption(method, tool);
}

/** What an error says became of a write; undefined if it does not say. */
export function outcomeOf(error: ConnectError): WriteOutcome | undefined {
  const outcome = error.findDetails(WriteFailureSchema)[0]?.outcome;
  return outcome === Outcome.UNSPECIFIED ? undefined : outcome;
}

/** The outcome in a word: unchanged, partly or unknown. */
export function wordOf(outcome: WriteOutcome): "unchanged" | "partly" | "unknown" {
  if (outcome === Outcome.UNCHANGED) return "unchanged";
  return outcome === Outcome.PARTLY ? "partly" : "unknown";
}

/**
 * The error with what became of the write, as a detail and at the end of its message.
 *
 * @param advice what to do next if nothing was changed.
 */
export function withOutcome(error: ConnectError, outcome: WriteOutcome, advice?: string): ConnectError {
  if (outcomeOf(error) !== undefined) return error;
  return detailed(error, outcome, `${error.rawMessage}${sentenceOf(error.code, outcome, advice)}`);
}

/** The error with what became of the write as a detail alone: its message says it already. */
export function withOutcomeSaid(error: ConnectError, outcome: WriteOutcome): ConnectError {
  return detailed(error, outcome, error.rawMessage);
}

/** The error of a write with its outcome; if it has none, that of its code: a refusal changed nothing. */
export function settled(error: ConnectError): ConnectError {
  return withOutcome(error, OPEN.has(error.code) ? Outcome.UNKNOWN : Outcome.UNCHANGED);
}

function detailed(error: ConnectError, outcome: WriteOutcome, message: string): ConnectError {
  const said = new ConnectError(message, error.code, error.metadata, undefined, error.cause);
  said.details = [...error.details, { desc: WriteFailureSchema, value: { outcome } }];
  return said;
}

function sentenceOf(code: Code, outcome: WriteOutcome, advice: string | undefined): string {
  if (outcome === Outcome.PARTLY) return PARTLY;
  if (outcome === Outcome.UNKNOWN) return UNKNOWN;
  const then = advice === undefined ? "" : `, so ${advice}`;
  return FAILURES.has(code) ? `${UNCHANGED}${then}` : "";
}
