import type {
  DescMessage,
  DescMethodBiDiStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Credential } from "./call.js";

/** Tells a call to stop. An AbortSignal does; to make one for each call costs as much as a tenth of the call. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** What goes with a call to a service. */
export interface Outgoing {
  readonly credential: Credential;
  readonly signal?: AbortSignal | undefined;
  /** Tells the same as `signal`, to who needs no AbortSignal. */
  readonly stop?: StopSignal | undefined;
  /** Milliseconds since the epoch. */
  readonly deadline?: number | undefined;
  /** The signal is aborted at the deadline too: nobody else need watch the clock. */
  readonly signalsDeadline?: boolean;
  /** Its caller only reads the reply, which may be frozen, and the reply of another call too. */
  readonly sharesReply?: boolean;
  readonly traceparent?: string | undefined;
}

/**
 * The one way to call a service, whether it runs in this process
 * (in-process.ts) or another (remote.ts). Every failure is a ConnectError.
 */
export interface Dispatch {
  unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    out: Outgoing,
  ): Promise<MessageShape<O>>;

  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    out: Outgoing,
  ): AsyncIterable<MessageShape<O>>;

  duplex<I extends DescMessage, O extends DescMessage>(
    method: DescMethodBiDiStreaming<I, O>,
    requests: AsyncIterable<MessageInitShape<I>>,
    out: Outgoing,
  ): AsyncIterable<MessageShape<O>>;
}
