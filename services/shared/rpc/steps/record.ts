import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { AuditKind } from "#proto/auth/v1/audit_service_pb.js";
import type { Auditor } from "../../audit/auditor.js";
import { entryOf, kindOf } from "../../audit/entry.js";
import { type CallLine, callLines } from "../../process/call-lines.js";
import type { Log } from "../../process/log.js";
import type { Caller, Incoming } from "../call.js";
import { readsOnly } from "../reads-only.js";
import { auditOf } from "./audit.js";

/** Longest trace context that is written down, in characters: that of version 00 has 55 (W3C Trace Context §3.2). */
const MAX_TRACE = 64;

/** How a call ended. */
export interface Outcome {
  /** undefined where it succeeded. */
  readonly code: Code | undefined;
  /** Milliseconds from the adapter to the last byte of the method. */
  readonly ms: number;
  /** undefined where it was not established who calls. */
  readonly caller: Caller | undefined;
  /** By performance.now(). */
  readonly startedAt: number;
}

/** Hears of every finished call; for metrics and traces. */
export type Observe = (method: DescMethod, call: Incoming, outcome: Outcome) => void;

/**
 * Records that a call ended, with its error where it failed.
 *
 * @returns what the answer waits for, if the call changed something: the change's record is on disk once it is resolved.
 */
export type RecordCall = (
  request: unknown,
  incoming: Incoming,
  caller: Caller | undefined,
  startedAt: number,
  error?: unknown,
) => Promise<void> | undefined;

/** The outcome of a call in a word: ok, or the code of its error. */
export function outcomeOf(error: unknown): string {
  return error === undefined ? "ok" : codeToString(ConnectError.from(error).code);
}

/** Who hears of calls that ended. */
export interface Recorders {
  readonly log: Log;
  readonly observe?: Observe | undefined;
  readonly audit?: Auditor | undefined;
  /** Whether the audit has a call from before it began. */
  readonly isAudited?: (incoming: Incoming) => boolean;
}

/**
 * Chooses how calls of an rpc are recorded: one log line for each that writes
 * or fails, and an audit record for each that writes or is refused.
 */
export function recordOf(desc: DescMethod, needed: string, { log, observe, audit, isAudited }: Recorders): RecordCall {
  const rpc = `${desc.parent.typeName}/${desc.name}`;
  const writes = !readsOnly(desc);
  const isInternal = needed === "internal";
  const ownKind = kindOf(desc, needed);
  // Made at the first: most rpcs are not called.
  let writeCall: ((line: CallLine) => void) | undefined;
  return (request, incoming, caller, startedAt, error) => {
    const code = error === undefined ? undefined : ConnectError.from(error).code;
    const ms = performance.now() - startedAt;
    observe?.(desc, incoming, { code, ms, caller, startedAt });
    // Whose name a service account uses is on record whatever it does in it.
    const actsFor = caller?.account !== undefined && caller.account.id !== caller.id;
    if (code === undefined && !writes && !actsFor) return undefined;
    const refused = code === Code.PermissionDenied || code === Code.Unauthenticated;
    // Our own processes are refused where a key was changed; everybody else who is has tried.
    const kind =
      refused && !(isInternal && caller?.service !== false)
        ? AuditKind.REFUSAL
        : (ownKind ?? (actsFor ? AuditKind.READ : undefined));
    const outcome = code === undefined ? "ok" : codeToString(code);
    const facts = auditOf(desc, request);
    let kept: Promise<void> | undefined;
    if (audit !== undefined && kind !== undefined && isAudited?.(incoming) !== true) {
      const entry = entryOf(desc, request, incoming, caller, { kind, outcome, facts });
      if (code === undefined && kind === AuditKind.WRITE) kept = audit.keep(entry);
      else audit.note(entry);
    }
    const isOfAudit = (writes || refused) && !isInternal;
    const line: CallLine = {
      code: outcome,
      ms: Math.round(ms * 10) / 10,
      caller: caller?.id,
      key: caller?.keyId,
      account: caller?.account?.name,
      trace: incoming.traceparent?.slice(0, MAX_TRACE),
      audit: isOfAudit || undefined,
      args: isOfAudit ? facts.args : undefined,
      target: isOfAudit ? facts.target : undefined,
    };
    if (code === Code.Internal || code === Code.Unknown || code === Code.DataLoss) {
      log.error({ rpc, ...line, err: error }, rpc);
    } else {
      writeCall ??= callLines(log, rpc, isInternal ? "debug" : "info");
      writeCall(line);
    }
    return kept;
  };
}

/**
 * Records a stream once, also where its reader leaves before its end. A tool's stream is recorded before its result is
 * given, because its reader leaves with the result.
 */
export async function* recorded(
  stream: AsyncIterable<unknown>,
  record: (error?: unknown) => Promise<void> | undefined,
): AsyncIterable<unknown> {
  let failure: unknown;
  let isRecorded = false;
  try {
    for await (const message of stream) {
      if (!isRecorded && isResult(message)) {
        isRecorded = true;
        await record();
      }
      yield message;
    }
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    if (!isRecorded) await record(failure);
  }
}

/** See mcp.v1.Progress for the shape of a stream. */
function isResult(message: unknown): boolean {
  return (message as { readonly event?: { readonly case?: string } }).event?.case === "result";
}
