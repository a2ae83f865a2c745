import type { Message } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createConnectRouter,
  createContextKey,
  type HandlerContext,
  type MethodImpl,
} from "@connectrpc/connect";
import { createMethodUrl, type UniversalHandler } from "@connectrpc/connect/protocol";
import { type Admit, admission } from "../admission.js";
import { askedIn, bounded } from "../bounded.js";
import type { Authenticated, Authenticator, Incoming } from "../call.js";
import { type Chain, chain } from "../chain.js";
import { internal } from "../errors.js";
import type { Method } from "../method.js";
import { scopeOf } from "../steps/access.js";
import { PUBLIC } from "../steps/caller.js";
import { JSON_TEXT } from "../text-encoding.js";
import { APPEND, appending } from "./appended.js";
import type { NodeRequest } from "./body.js";
import { credentialOf, traceparentOf } from "./headers.js";
import { type MessageLimits, messageLimitsOf } from "./message-limits.js";
import { until } from "./until.js";

/** A call that was admitted, as its handler finds it. */
export interface AdmittedCall {
  readonly who: Authenticated;
  readonly request: NodeRequest;
  /** Aborted with an error when the credential is no longer good. */
  readonly ended: AbortSignal;
  /** Counts a credential that came in the message and is not good, as one of the headers is counted. */
  readonly refused: () => void;
}

/** Under which a handler finds its call. */
export const CALL = createContextKey<AdmittedCall | undefined>(undefined);

/** What stands behind a path. */
export interface Route {
  readonly method: Method;
  readonly authenticator: Authenticator;
  /** Open to everybody. */
  readonly isPublic: boolean;
  /** The client sends one message, and not a stream of them. */
  readonly takesOne: boolean;
  readonly limits: MessageLimits;
  readonly admit: Admit;
  /** Speaks gRPC, gRPC-Web and Connect. */
  readonly serve: UniversalHandler;
}

/**
 * The routes of methods, by path.
 *
 * @param closing is aborted when the server begins to close, for what nobody else would end.
 */
export function routesOf(
  methods: readonly { readonly method: Method; readonly steps: Chain }[],
  closing: AbortSignal,
): ReadonlyMap<string, Route> {
  return new Map(
    methods.map((one) => [createMethodUrl("/", one.method.desc), routeOf(one.method, one.steps, closing)]),
  );
}

/**
 * What reads a message is made for the first caller who is admitted: to make it for every rpc takes a tenth of a
 * start, and a stranger who asks for each costs nothing of it.
 */
function routeOf(method: Method, steps: Chain, closing: AbortSignal): Route {
  const { desc } = method;
  let reader: Pick<Route, "limits" | "serve"> | undefined;
  const made = (): Pick<Route, "limits" | "serve"> => {
    reader ??= readerOf(method, steps, closing);
    return reader;
  };
  return {
    method,
    authenticator: steps.authenticator,
    isPublic: scopeOf(method) === PUBLIC,
    takesOne: desc.methodKind === "unary" || desc.methodKind === "server_streaming",
    get limits() {
      return made().limits;
    },
    admit: admission(method, steps),
    get serve() {
      return made().serve;
    },
  };
}

function readerOf(method: Method, steps: Chain, closing: AbortSignal): Pick<Route, "limits" | "serve"> {
  const { desc } = method;
  const limits = messageLimitsOf(method);
  // Other people's protos grow: a field that is new in them is not refused.
  const jsonOptions = { ...JSON_TEXT, ignoreUnknownFields: method.scope !== undefined };
  const router = createConnectRouter({ acceptCompression: [], readMaxBytes: limits.bytes, jsonOptions });
  router.rpc(desc, handlerOf(method, steps, closing) as MethodImpl<typeof desc>);
  const serve = bounded(router.handlers[0] as UniversalHandler, jsonOptions);
  return { limits, serve: desc.methodKind === "unary" ? serve : appending(serve) };
}

function handlerOf(method: Method, steps: Chain, closing: AbortSignal) {
  const run = chain(method, steps);
  const kind = method.desc.methodKind;
  const isPublic = scopeOf(method) === PUBLIC;
  if (kind === "unary") {
    return (request: Message, context: HandlerContext): unknown => {
      const call = callOf(context);
      // Client or credential may have gone while the message came: then nothing is begun.
      context.signal.throwIfAborted();
      call.ended.throwIfAborted();
      const reply = run(askedIn(request, context.values), incomingOf(context, call, context.signal));
      return isPublic && reply instanceof Promise ? reply.catch((error: unknown) => refuse(error, call)) : reply;
    };
  }
  return (request: unknown, context: HandlerContext): AsyncIterable<unknown> => {
    const call = callOf(context);
    const incoming = incomingOf(context, call, AbortSignal.any([context.signal, call.ended]));
    const isDuplex = kind === "bidi_streaming";
    const asked = isDuplex ? until(request as AsyncIterable<unknown>, closing, () => undefined, false) : request;
    const replies = run(asked, incoming) as AsyncIterable<unknown>;
    const held = until(replies, call.ended, () => call.ended.throwIfAborted(), true);
    return method.isEndless === true ? until(held, closing, () => undefined, true) : held;
  };
}

function refuse(error: unknown, { refused }: AdmittedCall): never {
  if (ConnectError.from(error).code === Code.Unauthenticated) refused();
  throw error;
}

function callOf({ values }: HandlerContext): AdmittedCall {
  const call = values.get(CALL);
  if (call === undefined) throw internal("nobody was admitted");
  return call;
}

function incomingOf(context: HandlerContext, { who, request }: AdmittedCall, signal: AbortSignal): Incoming {
  const traceparent = traceparentOf(request);
  const left = context.timeoutMs();
  return {
    credential: credentialOf(request),
    signal,
    admitted: who,
    append: context.values.get(APPEND),
    ...(left !== undefined && { deadline: Date.now() + left }),
    ...(traceparent !== undefined && { traceparent }),
  };
}
