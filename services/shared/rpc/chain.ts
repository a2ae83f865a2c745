import type { Message } from "@bufbuild/protobuf";
import { AuditKind } from "#proto/auth/v1/audit_service_pb.js";
import type { Auditor } from "../audit/auditor.js";
import { kindOf } from "../audit/entry.js";
import type { Shares } from "../limits/shares.js";
import type { Log } from "../process/log.js";
import type { Authenticator, Call, Caller, Incoming } from "./call.js";
import type { Method } from "./method.js";
import { checkAccess, scopeOf } from "./steps/access.js";
import { administering } from "./steps/administration.js";
import { NOBODY, PUBLIC, whenKnown } from "./steps/caller.js";
import { checkDeadline } from "./steps/deadline.js";
import { MethodCall } from "./steps/method.js";
import { type Observe, recorded, recordOf } from "./steps/record.js";
import { checkRules } from "./steps/rules.js";
import { countsHere, inTurn } from "./steps/share.js";
import { checkTextsOf } from "./steps/texts.js";
import { sayingOutcome } from "./steps/write-outcome.js";
import { isWriteTool } from "./write-outcome.js";

// Every adapter runs a method through the same steps, in this order, each in a
// file of its own under steps/:
//
//   caller     who is calling                 ─▶ unauthenticated, unavailable
//   share      are there calls left, and when ─▶ resource_exhausted
//   access     does the caller hold the scope ─▶ permission_denied
//   deadline   is there time left             ─▶ deadline_exceeded
//   texts      is it a text too long to read  ─▶ resource_exhausted
//   rules      buf.validate                   ─▶ invalid_argument
//   method     its own gates, store, platform ─▶ any code; administration is in the audit before it
//   record     one log line, and of writes and refusals an audit record
//   outcome    a write tool's error says what became of the change

/** Runs one method for one call; the steps are chosen once, not per call. */
export type Run = (request: unknown, incoming: Incoming) => unknown;

/** What the steps in front of the methods of a service work with. */
export interface Chain {
  readonly authenticator: Authenticator;
  readonly log: Log;
  /** What callers have of this process; without it their calls are not counted. */
  readonly shares?: Shares;
  /** Told of every finished call; for metrics and traces. */
  readonly observe?: Observe;
  /** Writes down who did what; without it only the log hears of it. */
  readonly audit?: Auditor;
}

/**
 * Builds the steps in front of a method. What is known at once is answered at
 * once: a promise is made only where a step or the method makes one.
 */
export function chain(method: Method, { authenticator, log, shares, observe, audit }: Chain): Run {
  const { desc } = method;
  const needed = scopeOf(method);
  const isUnary = desc.methodKind === "unary";
  const administers = audit !== undefined && isUnary && kindOf(desc, needed) === AuditKind.ADMINISTRATION;
  const writes = isWriteTool(desc);
  const begun = new WeakSet<Incoming>();
  const record = recordOf(desc, needed, {
    log,
    observe,
    audit,
    isAudited: (incoming) => administers && begun.has(incoming),
  });
  const takesOne = isUnary || desc.methodKind === "server_streaming";
  const checkTexts = checkTextsOf(desc);
  const plain = method.handle as (request: unknown, call: Call) => unknown;
  const handle = administers ? administering(desc, plain, audit) : plain;

  const enter = (request: unknown, incoming: Incoming, caller: Caller, assertion: string): unknown => {
    checkAccess(caller, needed, desc);
    checkDeadline(incoming);
    if (takesOne) {
      checkTexts?.(request as Message);
      checkRules(desc, request as Message);
    }
    if (administers || writes) begun.add(incoming);
    return handle(request, new MethodCall(incoming, caller, assertion));
  };

  const finish = (
    request: unknown,
    incoming: Incoming,
    caller: Caller,
    startedAt: number,
    result: unknown,
  ): unknown => {
    if (isPromise(result)) {
      return result.then(
        (value) => afterRecord(record(request, incoming, caller, startedAt), value),
        (error: unknown) => {
          void record(request, incoming, caller, startedAt, error);
          throw error;
        },
      );
    }
    if (!isUnary) {
      return recorded(result as AsyncIterable<unknown>, (error) => record(request, incoming, caller, startedAt, error));
    }
    return afterRecord(record(request, incoming, caller, startedAt), result);
  };

  /** What begins in its turn, when nobody else is there any more to record how it failed. */
  const later = (
    request: unknown,
    incoming: Incoming,
    caller: Caller,
    assertion: string,
    startedAt: number,
  ): unknown => {
    let result: unknown;
    try {
      result = enter(request, incoming, caller, assertion);
    } catch (error) {
      void record(request, incoming, caller, startedAt, error);
      throw error;
    }
    return finish(request, incoming, caller, startedAt, result);
  };

  const run: Run = (request, incoming) => {
    const startedAt = performance.now();
    let known: Caller | undefined;
    const go = (caller: Caller, assertion: string): unknown => {
      known = caller;
      if (shares !== undefined && countsHere(incoming, caller)) {
        return inTurn(shares, caller, isUnary, () => later(request, incoming, caller, assertion, startedAt));
      }
      return finish(request, incoming, caller, startedAt, enter(request, incoming, caller, assertion));
    };
    try {
      if (needed === PUBLIC) return go(NOBODY, "");
      const who = incoming.admitted ?? authenticator.authenticate(incoming.credential);
      if (!isPromise(who)) return go(who.caller, who.assertion);
      return whenKnown(desc, who, go, (error) => record(request, incoming, known, startedAt, error));
    } catch (error) {
      void record(request, incoming, known, startedAt, error);
      throw error;
    }
  };
  return sayingOutcome(desc, run, (incoming) => begun.has(incoming));
}

/** A result is given once the record of the change is on disk. */
function afterRecord<T>(kept: Promise<void> | undefined, result: T): T | Promise<T> {
  return kept === undefined ? result : kept.then(() => result);
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Promise<T> | undefined)?.then === "function";
}
