import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, FileRegistry, Message } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createConnectRouter,
  createContextKey,
  type HandlerContext,
} from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import type { BearerCredentials } from "../../../services/shared/credentials/credentials.js";
import type { Known } from "../../../services/shared/credentials/known.js";
import type { Ended } from "../../../services/shared/credentials/open-responses.js";
import { askedIn, bounded } from "../../../services/shared/rpc/bounded.js";
import type { Dispatch, Outgoing } from "../../../services/shared/rpc/dispatch.js";
import { serviceOf } from "../../../services/shared/rpc/service.js";
import { isForServices } from "../../../services/shared/rpc/steps/access.js";
import { JSON_TEXT } from "../../../services/shared/rpc/text-encoding.js";

/** Under which a handler finds who calls. */
export const CALLER = createContextKey<Known | undefined>(undefined);

/** An rpc that the façade forwards. */
export interface RpcHandler {
  readonly method: DescMethodUnary | DescMethodServerStreaming;
  /** Speaks Connect and gRPC-Web, JSON and binary. */
  readonly serve: UniversalHandler;
}

/** Finds the handler of an rpc, or says why there is none: it is not of the API, is for our own services, or streams both ways. */
export type FindRpc = (service: string, method: string) => RpcHandler | "unknown" | "internal" | "duplex";

/** The rpcs, and the way to the services that answer them. */
export interface RpcHandlerOptions {
  readonly dispatch: Dispatch;
  readonly credentials: Pick<BearerCredentials, "hold">;
  readonly image: FileRegistry;
  /** Longest message of a client, in bytes. */
  readonly maxBytes: number;
}

/** How long an rpc may take where its client does not say less, in milliseconds. */
const UNARY_MS = 60_000;
/** How long a stream may last. */
const STREAM_MS = 600_000;

/**
 * Connect's own handlers for the unary and server-streaming rpcs of the image.
 * They forward to the services as the caller; each is made at its first call.
 */
export function createRpcHandlers({ dispatch, credentials, image, maxBytes }: RpcHandlerOptions): FindRpc {
  const made = new Map<string, RpcHandler>();
  const jsonOptions = { ...JSON_TEXT, registry: image, ignoreUnknownFields: false };

  function routerOf(): ConnectRouter {
    return createConnectRouter({ grpc: false, acceptCompression: [], readMaxBytes: maxBytes, jsonOptions });
  }

  function forwardUnary(method: DescMethodUnary): UniversalHandler {
    const router = routerOf().rpc(method, async (request: Message, context: HandlerContext) => {
      try {
        const asked = askedIn(request, context.values);
        return await dispatch.unary(method, asked as never, outgoing(method, context, UNARY_MS, context.signal));
      } catch (error) {
        throw told(error);
      }
    });
    return bounded(router.handlers[0] as UniversalHandler, jsonOptions);
  }

  function forwardStream(method: DescMethodServerStreaming): UniversalHandler {
    const router = routerOf().rpc(method, async function* (request: Message, context: HandlerContext) {
      // What stays open is cut off with its credential.
      const cut = new AbortController();
      const letGo = credentials.hold(callerOf(context), (ended) => cut.abort(ENDED[ended]));
      const signal = AbortSignal.any([context.signal, cut.signal]);
      try {
        const replies = dispatch.stream(method, request as never, outgoing(method, context, STREAM_MS, signal));
        for await (const reply of replies) {
          // Also where the service does not look at the signal.
          cut.signal.throwIfAborted();
          yield reply;
        }
      } catch (error) {
        throw cut.signal.aborted ? cut.signal.reason : told(error);
      } finally {
        letGo();
      }
    });
    return bounded(router.handlers[0] as UniversalHandler, jsonOptions);
  }

  function forward(method: DescMethod): RpcHandler | undefined {
    if (method.methodKind === "unary") {
      const unary = method as DescMethodUnary;
      return { method: unary, serve: forwardUnary(unary) };
    }
    if (method.methodKind !== "server_streaming") return undefined;
    const stream = method as DescMethodServerStreaming;
    return { method: stream, serve: forwardStream(stream) };
  }

  return (service, name) => {
    const key = `${service}/${name}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const method = image.getService(service)?.methods.find((one) => one.name === name);
    if (method === undefined) return "unknown";
    if (isForServices(method)) return "internal";
    const handler = forward(method);
    if (handler === undefined) return "duplex";
    made.set(key, handler);
    return handler;
  };
}

const ENDED: Readonly<Record<Ended, ConnectError>> = {
  revoked: new ConnectError("the credential was revoked: present another one", Code.Unauthenticated),
  unavailable: new ConnectError(
    "the service that checks API keys does not answer at the moment: open the stream again",
    Code.Unavailable,
  ),
};

function callerOf({ values }: HandlerContext): Known {
  const known = values.get(CALLER);
  if (known === undefined) throw new ConnectError("nobody was admitted", Code.Internal);
  return known;
}

function outgoing(
  method: RpcHandler["method"],
  context: HandlerContext,
  mostMs: number,
  signal: AbortSignal,
): Outgoing {
  const assertion = callerOf(context).assertions[serviceOf(method) ?? ""] ?? "";
  return { credential: { assertion }, signal, deadline: Date.now() + Math.min(context.timeoutMs() ?? mostMs, mostMs) };
}

/** A service's error without the headers it came with; the cause and the words of a fault of ours stay inside. */
export function told(error: unknown): ConnectError {
  const failed = ConnectError.from(error);
  if (failed.code === Code.Internal || failed.code === Code.Unknown) {
    return new ConnectError("internal error", failed.code, undefined, undefined, failed);
  }
  const plain = new ConnectError(failed.rawMessage, failed.code, undefined, undefined, failed);
  plain.details = failed.details;
  return plain;
}
