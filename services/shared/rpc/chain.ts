import { AuditKind } from "#proto/auth/v1/audit_service_pb.js";
import type { Auditor } from "../audit/auditor.js";
import { kindOf } from "../audit/entry.js";
import type { Shares } from "../limits/shares.js";
import type { Log } from "../process/log.js";
import type { Authenticator, Call, Incoming } from "./call.js";
import type { Method } from "./method.js";
import { RunningCall, type Step } from "./running-call.js";
import { accessStep, scopeOf } from "./steps/access.js";
import { administering } from "./steps/administration.js";
import { callerStep } from "./steps/caller.js";
import { checkDeadline } from "./steps/deadline.js";
import { type Observe, type RecordCall, recorded, recordOf } from "./steps/record.js";
import { requestStep } from "./steps/request.js";
import { checkRules } from "./steps/rules.js";
import { shareStep } from "./steps/share.js";
import { checkTextsOf } from "./steps/texts.js";
import { withWriteOutcome } from "./steps/write-outcome.js";
import { isWriteTool } from "./write-outcome.js";

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
 * The steps in front of a method, in the order in which every adapter runs them, each in a
 * file of its own under steps/. After them come the method, whose gates, store and platform
 * may refuse with any code, and then, for every call:
 *
 *   record     one log line, and of writes and refusals an audit record; administration is in the audit before it
 *   outcome    a write tool's error says what became of the change
 */
function stepsOf(method: Method, needed: string, { authenticator, shares }: Chain): readonly Step[] {
  const { desc } = method;
  const takesOne = desc.methodKind === "unary" || desc.methodKind === "server_streaming";
  const checkTexts = takesOne ? checkTextsOf(desc) : undefined;
  const steps: readonly (Step | undefined)[] = [
    callerStep(needed, authenticator), //                                    unauthenticated, unavailable
    shares && shareStep(shares), //                                          resource_exhausted
    accessStep(needed, desc), //                                             permission_denied
    checkDeadline, //                                                        deadline_exceeded
    checkTexts && requestStep(checkTexts), //                                resource_exhausted
    takesOne ? requestStep(checkRules.bind(undefined, desc)) : undefined, // invalid_argument
  ];
  return steps.filter((step) => step !== undefined);
}

/**
 * Builds the steps in front of a method. A unary call whose caller is known is answered at once:
 * a promise is made only if a step or the method makes one. A stream begins when it is first read.
 */
export function chain(method: Method, options: Chain): Run {
  const chained = new ChainedMethod(method, options);
  return method.desc.methodKind === "unary"
    ? (request, incoming) => chained.unary(new RunningCall(request, incoming))
    : (request, incoming) => chained.stream(new RunningCall(request, incoming));
}

type Handle = (request: unknown, call: Call) => unknown;

class ChainedMethod {
  readonly #steps: readonly Step[];
  readonly #handle: Handle;
  readonly #record: RecordCall;
  readonly #writes: boolean;

  constructor(method: Method, options: Chain) {
    const { desc } = method;
    const { audit, log, observe } = options;
    const needed = scopeOf(method);
    const handle = method.handle as Handle;
    const isUnary = desc.methodKind === "unary";
    const administers = audit !== undefined && isUnary && kindOf(desc, needed) === AuditKind.ADMINISTRATION;
    this.#steps = stepsOf(method, needed, options);
    this.#handle = administers ? administering(desc, handle, audit) : handle;
    const isAudited = (call: Incoming): boolean => administers && (call as RunningCall).hasBegun;
    this.#record = recordOf(desc, needed, { log, observe, audit, isAudited });
    this.#writes = isWriteTool(desc);
  }

  unary(call: RunningCall): unknown {
    let result: unknown;
    try {
      result = this.#proceed(call);
    } catch (error) {
      throw this.#failed(call, error);
    }
    if (!isPromise(result)) return this.#ended(call, result);
    return result.then(
      (value) => this.#ended(call, value),
      (error: unknown) => {
        throw this.#failed(call, error);
      },
    );
  }

  async *stream(call: RunningCall): AsyncIterable<unknown> {
    let isRecorded = false;
    try {
      const begun = this.#proceed(call);
      const replies = isPromise(begun) ? await begun : begun;
      isRecorded = true;
      yield* recorded(replies as AsyncIterable<unknown>, (error) => this.#recordEnd(call, error));
    } catch (error) {
      if (!isRecorded) void this.#recordEnd(call, error);
      throw this.#told(call, error);
    } finally {
      call.leave();
    }
  }

  /** Runs the steps from the next one on, and then the method. */
  #proceed(call: RunningCall): unknown {
    while (call.next < this.#steps.length) {
      const pending = (this.#steps[call.next++] as Step)(call);
      if (pending !== undefined && isPromise(pending)) return pending.then(() => this.#proceed(call));
    }
    call.hasBegun = true;
    return this.#handle(call.request, call);
  }

  /** A result is given once the record of the change is on disk. */
  #ended(call: RunningCall, result: unknown): unknown {
    const kept = this.#recordEnd(call);
    if (kept !== undefined) return this.#afterRecord(call, kept, result);
    if (call.share !== undefined) call.leave();
    return result;
  }

  async #afterRecord(call: RunningCall, kept: Promise<void>, result: unknown): Promise<unknown> {
    try {
      await kept;
      return result;
    } catch (error) {
      throw this.#told(call, error);
    } finally {
      call.leave();
    }
  }

  /** What is thrown for an error, which is on record then. */
  #failed(call: RunningCall, error: unknown): unknown {
    void this.#recordEnd(call, error);
    call.leave();
    return this.#told(call, error);
  }

  #told({ hasBegun }: RunningCall, error: unknown): unknown {
    return this.#writes ? withWriteOutcome(error, hasBegun) : error;
  }

  #recordEnd(call: RunningCall, error?: unknown): Promise<void> | undefined {
    return this.#record(call.request, call, call.caller, call.startedAt, error);
  }
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as Promise<unknown> | undefined)?.then === "function";
}
