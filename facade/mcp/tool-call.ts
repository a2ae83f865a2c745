import type { JsonObject, Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import type { BearerCredentials } from "../../services/shared/credentials/credentials.js";
import type { Known } from "../../services/shared/credentials/known.js";
import type { Ended } from "../../services/shared/credentials/open-responses.js";
import { holderOf } from "../../services/shared/limits/holder.js";
import type { Shares } from "../../services/shared/limits/shares.js";
import type { Slots } from "../../services/shared/limits/slots.js";
import type { Log } from "../../services/shared/process/log.js";
import type { Credential } from "../../services/shared/rpc/call.js";
import type { Dispatch, Outgoing, StopSignal } from "../../services/shared/rpc/dispatch.js";
import { canceled, deadlineExceeded, internal, unavailable } from "../../services/shared/rpc/errors.js";
import { outcomeOf as outcomeWordOf } from "../../services/shared/rpc/steps/record.js";
import { Stop } from "../../services/shared/rpc/stop.js";
import { newTraceparent } from "../../services/shared/rpc/traceparent.js";
import { outcomeOf, settled, type WriteOutcome, withOutcome, wordOf } from "../../services/shared/rpc/write-outcome.js";
import type { ProgressNote } from "../../services/shared/tools/callable-tool.js";
import { showHidden } from "../../services/shared/tools/codec/hidden-characters.js";
import type { Tool } from "../../services/shared/tools/tools.js";
import { rateRefusal } from "../admission/refusals.js";
import type { ServedTool } from "../catalogue/served-tool.js";
import type { View } from "../catalogue/tools-list.js";
import type { Deadlines } from "./deadlines.js";
import { INTERNAL_ERROR, RpcError } from "./json-rpc.js";
import { pinTenant, tenantOf } from "./pinned-tenant.js";
import type { SlowCalls } from "./slow-calls.js";

/** What goes with a call of a tool. */
export interface ToolCall {
  readonly known: Known;
  /** The server that the tool is of. */
  readonly server: string;
  /** When the headers of its request were here, by performance.now(). */
  readonly startedAt: number;
  /** What the caller sees, which is what an error may advise. */
  readonly view: Pick<View, "explain" | "tenants">;
  readonly args: JsonObject;
  /** The tenant that the URL names for all calls. */
  readonly tenant: string | undefined;
  readonly traceparent: string | undefined;
  /** Set where the client asked for progress. */
  readonly onProgress?: ((note: ProgressNote) => void) | undefined;
  /** Hands over how to cancel the call, for who may do so. */
  readonly onCancellable?: (cancel: () => void) => void;
}

/** The caller's credential was revoked, or cannot be vouched for any more; nothing else was done. */
export class CredentialError extends Error {
  constructor(readonly refused: Ended) {
    super(`credential ${refused}`);
  }
}

/** The way to the services, and what bounds a call. */
export interface ToolCallOptions {
  readonly dispatch: Dispatch;
  readonly credentials: Pick<BearerCredentials, "hold" | "isRevoked">;
  readonly shares: Shares;
  /** Of calls: a batch holds many, and a legacy client that hangs up leaves one behind. */
  readonly slots: Slots;
  readonly deadlines: Deadlines;
  readonly slow: SlowCalls;
  /** The share of calls without a trace context that are traced, from 0 to 1. */
  readonly traceRatio: number;
  readonly log: Log;
}

/** The result of a call, as JSON text. */
export interface ToolResult {
  readonly members: string;
  /** Members of its `_meta`; "" if there are none. */
  readonly meta: string;
  /** It is an error that the model can act on. */
  readonly isError: boolean;
}

/**
 * Calls the rpc behind a tool. Resolves to its result, also if it is an error
 * that the model can correct.
 *
 * @throws RpcError -32603 for what it cannot, 429 for one call too many, CredentialError.
 */
export type CallTool = (served: ServedTool, call: ToolCall) => Promise<ToolResult>;

/** Builds the one way to call a tool, in both eras: rate, arguments, the rpc under its deadline, and its errors. */
export function createCallTool(options: ToolCallOptions): CallTool {
  const { dispatch, credentials, shares, slots, deadlines, slow, traceRatio, log } = options;
  return async (served, call) => {
    const { caller } = call.known;
    const begunAt = performance.now();
    let answeredAt = 0;
    let outcome = "ok";
    const traceparent = call.traceparent ?? newTraceparent(traceRatio > 0 && Math.random() < traceRatio);
    const share = shares.of(caller);
    const wait = shares.take(share);
    if (wait > 0) throw tooMany(wait, served.tool);
    const slot = slots.take(holderOf(caller));
    if (typeof slot === "string") return refused(served.tool, TOO_MANY);
    share.active++;
    try {
      const request = served.decode(call.args);
      if (call.tenant !== undefined) pinTenant(served.tool, request, call.tenant);
      const result = await run(served, request, call, traceparent);
      answeredAt = performance.now();
      return {
        members: served.encode(result, tenantOf(served.tool, request, call.view.tenants)),
        meta: "",
        isError: false,
      };
    } catch (error) {
      outcome = outcomeWordOf(error);
      if (error instanceof CredentialError) throw error;
      let failed = ConnectError.from(error);
      if (failed.code === Code.Unauthenticated) {
        if (credentials.isRevoked(call.known)) throw new CredentialError("revoked");
        failed = unvouched(served.tool.readOnly);
      }
      if (!served.tool.readOnly) failed = settled(failed);
      const change = served.tool.readOnly ? undefined : outcomeOf(failed);
      const said = call.view.explain(failed, { tool: served.tool, args: call.args });
      if (said !== undefined) return failure(said, change);
      if (failed.code !== Code.Canceled) {
        log.error({ err: error, tool: served.tool.name, caller: caller.id, trace: traceparent }, "a tool failed");
      }
      const data = change && { [OUTCOME]: wordOf(change) };
      throw new RpcError(INTERNAL_ERROR, "Internal error: the service's log says more", 200, data);
    } finally {
      share.active--;
      slot.free(0);
      const { server, startedAt } = call;
      const now = performance.now();
      if (now - startedAt >= slow.fromMs) {
        const who = { server, tool: served.tool.name, caller: caller.id, key: caller.keyId };
        slow.note({ ...who, traceparent, startedAt, begunAt, answeredAt, now, outcome });
      }
    }
  };

  function run(served: ServedTool, request: Message, call: ToolCall, traceparent: string): Promise<Message> {
    const assertion = call.known.assertions[served.service];
    if (assertion === undefined) throw internal(`no assertion for ${served.service}`);
    return new Promise<Message>((resolve, reject) => {
      let stopped = false;
      const stop = (error: Error): void => {
        stopped = true;
        out.abort(error);
        settle();
        reject(error);
      };
      const ticket = deadlines.start((why) =>
        stop(why === "late" ? tooLate(served.tool.readOnly) : restarting(served.tool.readOnly)),
      );
      const unhold = credentials.hold(call.known, (ended) =>
        stop(ended === "revoked" ? new CredentialError(ended) : unvouched(served.tool.readOnly)),
      );
      const settle = (): void => {
        ticket.done();
        unhold();
      };
      const out = new Bounded(assertion, traceparent, ticket.at, served.tool.readOnly);
      call.onCancellable?.(() => stop(canceled("the client went away")));
      if (stopped) return;
      served.call(dispatch, request, out, call.onProgress).then(
        (result) => {
          settle();
          resolve(result);
        },
        (error: unknown) => {
          settle();
          // A service whose deadline passed may say no more than that it was stopped.
          reject(ticket.at <= Date.now() ? tooLateAfter(served.tool.readOnly, error) : error);
        },
      );
    });
  }
}

/** A call on its way to a service. Most services never ask for its signal. */
class Bounded extends Stop implements Outgoing {
  readonly credential: Credential;
  readonly signalsDeadline = true;

  constructor(
    assertion: string,
    readonly traceparent: string | undefined,
    readonly deadline: number,
    readonly sharesReply: boolean,
  ) {
    super();
    this.credential = { assertion };
  }

  get stop(): StopSignal {
    return this;
  }
}

function tooLate(readOnly: boolean, cause?: unknown): ConnectError {
  const then = readOnly ? ": ask for less, or call again later" : "";
  return deadlineExceeded(`the tool did not answer in time${then}`, cause);
}

/** The same, of a call that its service ended: what it says became of a write stays. */
function tooLateAfter(readOnly: boolean, error: unknown): ConnectError {
  const late = tooLate(readOnly, error);
  const outcome = outcomeOf(ConnectError.from(error));
  return outcome === undefined ? late : withOutcome(late, outcome);
}

function restarting(readOnly: boolean): ConnectError {
  return unavailable(`the service is restarting${readOnly ? ": call again in a few seconds" : ""}`);
}

/** The service did not say that the key is bad. Only a read may simply be repeated. */
function unvouched(readOnly: boolean): ConnectError {
  const then = readOnly ? ": call again in a few seconds" : "";
  return unavailable(
    `the service that checks API keys did not answer while the call ran, which says nothing about your key${then}`,
  );
}

/** The refusal of one call too many. @param wait seconds until one is not. */
export function tooMany(wait: number, { readOnly }: Tool): RpcError {
  const { message, word, headers } = rateRefusal(wait);
  const data = { error: word, ...(!readOnly && { [OUTCOME]: wordOf(Outcome.UNCHANGED) }) };
  return new RpcError(429, message, 429, data, headers);
}

/** The answer to a call for which there is no slot. */
export const TOO_MANY = "too many calls are running: wait until some have ended and call again";

/** The member of `_meta` by which the error of a write says what became of it: unchanged, partly or unknown. */
export const OUTCOME = "sallyport/write_outcome";

/** The result of a call that is refused before its service hears of it. */
export function refused({ readOnly }: Tool, said: string): ToolResult {
  return failure(said, readOnly ? undefined : Outcome.UNCHANGED);
}

/** A result that is an error the model can act on. @param outcome what became of a write. */
function failure(said: string, outcome: WriteOutcome | undefined): ToolResult {
  const members = `"content":[{"type":"text","text":${JSON.stringify(showHidden(said))}}],"isError":true`;
  return { members, meta: outcome === undefined ? "" : `"${OUTCOME}":"${wordOf(outcome)}"`, isError: true };
}
