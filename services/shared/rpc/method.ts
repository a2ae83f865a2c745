import type {
  DescMessage,
  DescMethod,
  DescMethodBiDiStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Call } from "./call.js";

// A service method is a plain function from a request and a call to a response
// or a stream of responses. Adapters mount it: in the same process
// (in-process.ts) and on connect-node (connect.ts); it knows of neither.

/** An rpc with the function that answers it. */
export interface Method {
  readonly desc: DescMethod;
  /** Takes a message, or for a bidirectional rpc an iterable of them. */
  readonly handle: (request: never, call: Call) => unknown;
  /** The scope a caller must hold, for rpcs of other people's APIs, which cannot state one. */
  readonly scope?: string;
  /** A stream of responses that only its client ends, or a server that closes. */
  readonly isEndless?: boolean;
}

type Init<M extends DescMessage> = MessageInitShape<M>;

/** Answers a unary rpc. */
export function unary<I extends DescMessage, O extends DescMessage>(
  desc: DescMethodUnary<I, O>,
  handle: (request: MessageShape<I>, call: Call) => Promise<Init<O>> | Init<O>,
): Method {
  return { desc, handle };
}

/** Answers an rpc that streams its responses. */
export function serverStream<I extends DescMessage, O extends DescMessage>(
  desc: DescMethodServerStreaming<I, O>,
  handle: (request: MessageShape<I>, call: Call) => AsyncIterable<Init<O>>,
): Method {
  return { desc, handle };
}

/** Answers an rpc that streams both ways. */
export function duplex<I extends DescMessage, O extends DescMessage>(
  desc: DescMethodBiDiStreaming<I, O>,
  handle: (requests: AsyncIterable<MessageShape<I>>, call: Call) => AsyncIterable<Init<O>>,
): Method {
  return { desc, handle };
}

/** States the scope of an rpc that somebody else's API defines. */
export function withScope(scope: string, method: Method): Method {
  return { ...method, scope };
}
