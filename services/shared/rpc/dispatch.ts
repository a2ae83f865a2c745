import type {
  DescMessage,
  DescMethodBiDiStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Credential } from "./call.js";

/** What goes with a call to a service. */
export interface Outgoing {
  readonly credential: Credential;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds since the epoch. */
  readonly deadline?: number | undefined;
  /** The signal is aborted at the deadline too: nobody else need watch the clock. */
  readonly signalsDeadline?: boolean;
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
