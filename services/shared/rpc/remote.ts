import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { ASSERTION_HEADER } from "./call.js";
import { type Choice, createChoice } from "./choice.js";
import type { Dispatch, Outgoing } from "./dispatch.js";
import { unavailable } from "./errors.js";
import { AnswerLost, askOnLane, NotBegun } from "./lane/asked-call.js";
import { CallDeadlines } from "./lane/call-deadlines.js";
import { Lanes } from "./lane/lanes.js";
import { type ServiceName, serviceOf } from "./service.js";
import { writable } from "./unread.js";

/** Where services listen: one URL, or those of several processes; none where a service is nowhere. */
export type Addresses = Readonly<Partial<Record<ServiceName, string | readonly string[] | undefined>>>;

/**
 * Calls services in other processes: Connect over HTTP/2, one connection an
 * address, and unary calls on the lane that an address announces (lane/). Of
 * several processes of a service one is called until it fails (choice.ts).
 */
export function connectRemote(addresses: Addresses): Dispatch {
  const transports = new Map<string, Transport>();
  const chosen = new Map<ServiceName, Choice>();
  const lanes = new Lanes();
  const deadlines = new CallDeadlines();

  function choiceOf(method: DescMethod): Choice {
    const service = serviceOf(method);
    const known = service && chosen.get(service);
    if (known !== undefined) return known;
    const given = (service && addresses[service]) ?? [];
    const urls = typeof given === "string" ? [given] : given;
    if (service === undefined || urls.length === 0)
      throw unavailable(`no address is known for ${method.parent.typeName}`);
    const choice = createChoice(urls);
    chosen.set(service, choice);
    return choice;
  }

  function transportTo(baseUrl: string): Transport {
    let transport = transports.get(baseUrl);
    if (transport === undefined) {
      transport = createConnectTransport({
        baseUrl,
        httpVersion: "2",
        useBinaryFormat: true,
        acceptCompression: [],
        pingIntervalMs: 10_000,
        pingIdleConnection: true,
        // A process that is busy answers late, and is not gone.
        pingTimeoutMs: 10_000,
      });
      transports.set(baseUrl, transport);
    }
    return transport;
  }

  function onLane<I extends DescMessage, O extends DescMessage>(
    url: string,
    method: DescMethodUnary<I, O>,
    asked: MessageInitShape<I>,
    out: Outgoing,
    other: AbortSignal | undefined,
  ): Promise<MessageShape<O>> | undefined {
    const lane = lanes.of(url);
    return (
      lane &&
      askOnLane(lane, deadlines, method, asked, {
        said: out,
        stop: other ?? out.stop ?? out.signal,
        timeoutMs: timeoutOf(out),
        signalsDeadline: out.signalsDeadline === true,
        sharesReply: out.sharesReply === true,
      })
    );
  }

  return {
    async unary(method, request, out) {
      const asked = writable(method.input, request);
      return choiceOf(method).call(isRepeatable(method), out, async (url, other) => {
        try {
          const reply = onLane(url, method, asked, out, other);
          if (reply !== undefined) return await reply;
        } catch (error) {
          if (!goesOn(error, method)) throw error;
        }
        const signal = other ?? out.signal;
        try {
          const answer = await transportTo(url).unary(method, signal, timeoutOf(out), headersOf(out), asked);
          lanes.learn(url, answer.header);
          return answer.message;
        } catch (error) {
          throw unlessLost(error, signal);
        }
      });
    },
    async *stream(method, request, out) {
      const input = once(create(method.input, request));
      yield* choiceOf(method).follow(async (url) => {
        const to = transportTo(url);
        return heard(() => to.stream(method, out.signal, timeoutOf(out), headersOf(out), input as never), out.signal);
      });
    },
    async *duplex(method, requests, out) {
      yield* choiceOf(method).hold(async (url) => {
        const to = transportTo(url);
        return heard(() => to.stream(method, out.signal, timeoutOf(out), headersOf(out), requests), out.signal);
      });
    },
  };
}

function headersOf({ credential: { assertion, authorization }, traceparent }: Outgoing): Record<string, string> {
  return {
    ...(assertion !== undefined && { [ASSERTION_HEADER]: assertion }),
    ...(authorization !== undefined && { authorization }),
    ...(traceparent !== undefined && { traceparent }),
  };
}

function timeoutOf({ deadline }: Outgoing): number | undefined {
  if (deadline === undefined) return undefined;
  const left = deadline - Date.now();
  if (left <= 0) throw new ConnectError("the deadline passed", 4);
  return left;
}

/** Whether a call that failed on a lane is made at the gRPC port: if it was not begun, or may be made twice. */
function goesOn(error: unknown, method: DescMethod): boolean {
  if (error instanceof NotBegun) return true;
  return error instanceof ConnectError && error.cause instanceof AnswerLost && isRepeatable(method);
}

/** Whether it does no harm that a method is called twice. */
function isRepeatable({ idempotency }: DescMethod): boolean {
  return idempotency === Idempotency.NO_SIDE_EFFECTS || idempotency === Idempotency.IDEMPOTENT;
}

/** The responses of a call, from when it is made. */
async function* heard<T>(
  make: () => Promise<{ readonly message: AsyncIterable<T> }>,
  signal: AbortSignal | undefined,
): AsyncIterable<T> {
  try {
    yield* (await make()).message;
  } catch (error) {
    throw unlessLost(error, signal);
  }
}

/**
 * HTTP/2 calls it "canceled" when the process at the other end dies or drains, as if the caller had gone, and "internal"
 * when it takes no more calls. A call that nobody here has cancelled was lost.
 */
function unlessLost(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true || !isLost(ConnectError.from(error))) return error;
  return unavailable("the connection to the service was lost before it answered", error);
}

function isLost({ code, cause }: ConnectError): boolean {
  if (code === Code.Canceled) return true;
  // What a service answers has no cause. A reset of the connection is "aborted" there, which said that nothing was changed.
  if (code === Code.Aborted) return cause !== undefined;
  return code === Code.Internal && typeof (cause as { code?: unknown } | undefined)?.code === "string";
}

async function* once<T>(value: T): AsyncIterable<T> {
  yield value;
}
