import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { ProgressSchema } from "#proto/mcp/v1/tool_pb.js";
import type { Platform } from "./platform.js";

/** How one rpc is answered by a connected platform, as the calling user. */
export interface Binding {
  readonly method: DescMethodUnary | DescMethodServerStreaming;
  readonly handle: (request: never, platform: Platform) => unknown;
}

/** Answers a unary rpc: resolve, check, read or write, read back. */
export function unary<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  run: (request: MessageShape<I>, platform: Platform) => Promise<MessageInitShape<O>>,
): Binding {
  return { method, handle: run };
}

/** Answers a streaming rpc with a generator that yields its progress and returns its result. */
export function serverStream<I extends DescMessage, O extends DescMessage, R extends DescMessage>(
  method: DescMethodServerStreaming<I, O>,
  _result: R,
  run: (
    request: MessageShape<I>,
    platform: Platform,
  ) => AsyncGenerator<MessageInitShape<typeof ProgressSchema>, MessageInitShape<R>, void>,
): Binding {
  async function* handle(request: MessageShape<I>, platform: Platform) {
    const generator = run(request, platform);
    for (;;) {
      const { done, value } = await generator.next();
      yield { event: { case: done ? "result" : "progress", value } };
      if (done) return;
    }
  }
  return { method, handle };
}
