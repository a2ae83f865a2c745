import { type DescMethod, getOption, isFieldSet, isMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { scope } from "#proto/auth/v1/access_pb.js";
import type { Log } from "../process/log.js";
import type { Authenticator, Call, Caller, Credential, Incoming } from "./call.js";
import { deadlineExceeded, permissionDenied } from "./errors.js";
import type { Method } from "./method.js";
import { checkRules } from "./rules.js";

// Every adapter runs a method through the same steps, in this order:
//
//   caller     who is calling                 ─▶ unauthenticated, unavailable
//   access     does the caller hold the scope ─▶ permission_denied
//   rules      buf.validate                   ─▶ invalid_argument
//   method     its own gates, store, platform ─▶ any code
//   record     one log line; writes and refusals are marked as audit

/** Runs one method for one call; the steps are chosen once, not per call. */
export type Run = (request: unknown, incoming: Incoming) => unknown;

export interface Chain {
  readonly authenticator: Authenticator;
  readonly log: Log;
  /** Told of every finished call; for metrics and traces. */
  readonly observe?: (method: DescMethod, call: Incoming, outcome: Outcome) => void;
}

/** How a call ended. */
export interface Outcome {
  readonly code: Code | undefined;
  /** Milliseconds from the adapter to the last byte of the method. */
  readonly ms: number;
  readonly caller: Caller | undefined;
  readonly startedAt: number;
}

const PUBLIC = "public";
const NOBODY: Caller = {
  id: "",
  email: "",
  name: "",
  admin: false,
  groups: [],
  scopes: new Set([PUBLIC]),
  keyId: "",
  service: false,
};

/** Builds the steps in front of a method. */
export function chain(method: Method, { authenticator, log, observe }: Chain): Run {
  const { desc } = method;
  const needed = method.scope ?? getOption(desc, scope);
  if (needed === "") throw new Error(`${desc.parent.typeName}.${desc.name} states no (auth.v1.scope)`);
  const rpc = `${desc.parent.typeName}/${desc.name}`;
  const writes = desc.idempotency !== 1;
  const handle = method.handle as (request: unknown, call: Call) => unknown;

  const enter = (request: unknown, incoming: Incoming, caller: Caller, assertion: string): unknown => {
    if (!caller.scopes.has(needed)) throw permissionDenied(`this needs the scope ${needed}`);
    if (incoming.deadline !== undefined && incoming.deadline <= Date.now()) {
      throw deadlineExceeded("the deadline passed before the call began");
    }
    if (desc.methodKind === "unary" || desc.methodKind === "server_streaming") checkRules(desc, request as Message);
    return handle(request, new Entered(incoming, caller, assertion));
  };

  const record = (
    request: unknown,
    incoming: Incoming,
    caller: Caller | undefined,
    startedAt: number,
    error?: unknown,
  ): void => {
    const code = error === undefined ? undefined : ConnectError.from(error).code;
    const ms = performance.now() - startedAt;
    observe?.(desc, incoming, { code, ms, caller, startedAt });
    const refused = code === Code.PermissionDenied || code === Code.Unauthenticated;
    if (code === undefined && !writes) return;
    const line = {
      rpc,
      code: code === undefined ? "ok" : codeToString(code),
      ms: Math.round(ms * 10) / 10,
      caller: caller?.id,
      key: caller?.keyId,
      trace: incoming.traceparent,
      ...((writes || refused) && needed !== "internal" && { audit: true, ...auditOf(desc, request) }),
    };
    if (code === Code.Internal || code === Code.Unknown || code === Code.DataLoss)
      log.error({ ...line, err: error }, rpc);
    else log[needed === "internal" ? "debug" : "info"](line, rpc);
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
        (value) => {
          record(request, incoming, caller, startedAt);
          return value;
        },
        (error: unknown) => {
          record(request, incoming, caller, startedAt, error);
          throw error;
        },
      );
    }
    if (desc.methodKind !== "unary") {
      return recorded(result as AsyncIterable<unknown>, (error) => record(request, incoming, caller, startedAt, error));
    }
    record(request, incoming, caller, startedAt);
    return result;
  };

  return (request, incoming) => {
    const startedAt = performance.now();
    let known: Caller | undefined;
    const go = (caller: Caller, assertion: string): unknown => {
      known = caller;
      return finish(request, incoming, caller, startedAt, enter(request, incoming, caller, assertion));
    };
    try {
      if (needed === PUBLIC) return go(NOBODY, "");
      const who = authenticator.authenticate(incoming.credential);
      if (!isPromise(who)) return go(who.caller, who.assertion);
      return whenKnown(who, go, (error) => record(request, incoming, known, startedAt, error), desc);
    } catch (error) {
      record(request, incoming, known, startedAt, error);
      throw error;
    }
  };
}

/** What a method is told. The signal is asked for only where the method asks: it is the dearest part of a call. */
class Entered implements Call {
  constructor(
    private readonly incoming: Incoming,
    readonly caller: Caller,
    readonly assertion: string,
  ) {}

  get credential(): Credential {
    return this.incoming.credential;
  }

  get signal(): AbortSignal {
    return this.incoming.signal;
  }

  get deadline(): number | undefined {
    return this.incoming.deadline;
  }

  get traceparent(): string | undefined {
    return this.incoming.traceparent;
  }
}

type Who = { readonly caller: Caller; readonly assertion: string };

function whenKnown(
  who: Promise<Who>,
  go: (caller: Caller, assertion: string) => unknown,
  refused: (error: unknown) => void,
  desc: DescMethod,
): unknown {
  const enter = async (): Promise<{ readonly result: unknown }> => {
    try {
      const { caller, assertion } = await who;
      return { result: go(caller, assertion) };
    } catch (error) {
      refused(error);
      throw error;
    }
  };
  if (desc.methodKind === "unary") return enter().then(({ result }) => result);
  return (async function* () {
    yield* (await enter()).result as AsyncIterable<unknown>;
  })();
}

/** Records a stream once, also where its reader leaves before its end: a tool's reader leaves with the result. */
async function* recorded(stream: AsyncIterable<unknown>, record: (error?: unknown) => void): AsyncIterable<unknown> {
  let failure: unknown;
  try {
    yield* stream;
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    record(failure);
  }
}

/** What an audit line says of a request: the names of its arguments, never their values, and the object it is about. */
function auditOf({ input }: DescMethod, request: unknown): { args?: string[]; target?: string } {
  if (!isMessage(request)) return {};
  const { id } = input.field;
  const target = id?.scalar === ScalarType.STRING ? (request as unknown as { id: string }).id : "";
  return {
    args: input.fields.filter((field) => isFieldSet(request, field)).map((field) => field.name),
    ...(target !== "" && { target }),
  };
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Promise<T> | undefined)?.then === "function";
}
