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

/** Answers an rpc with one GraphQL operation. */
export function graphql<I extends DescMessage, O extends DescMessage, Data>(
  method: DescMethodUnary<I, O>,
  spec: {
    readonly document: string;
    readonly variables: (request: MessageShape<I>) => Record<string, unknown>;
    readonly reply: (data: Data, request: MessageShape<I>) => MessageInitShape<O>;
  },
): Binding {
  const handle = async (request: MessageShape<I>, platform: Platform) =>
    spec.reply(await platform.graphql<Data>(spec.document, spec.variables(request)), request);
  return { method, handle };
}

/** Answers an rpc with one REST exchange. */
export function rest<I extends DescMessage, O extends DescMessage, Body>(
  method: DescMethodUnary<I, O>,
  spec: {
    readonly request: (request: MessageShape<I>) => RestRequest;
    readonly reply: (body: Body, request: MessageShape<I>) => MessageInitShape<O>;
  },
): Binding {
  const handle = async (request: MessageShape<I>, platform: Platform) =>
    spec.reply(await platform.rest<Body>(spec.request(request)), request);
  return { method, handle };
}

/** Answers an rpc with several exchanges: resolve, check, write, read back. */
export function steps<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  run: (request: MessageShape<I>, platform: Platform) => Promise<MessageInitShape<O>>,
): Binding {
  return { method, handle: run };
}

/** Answers a streaming tool with a generator that yields its progress and returns its result. */
export function stream<I extends DescMessage, O extends DescMessage, R extends DescMessage>(
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

/** One exchange with a REST platform. */
export interface RestRequest {
  readonly verb: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** From the platform's root, such as /api/scenarios/search. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  readonly body?: unknown;
  /** A read although its verb is POST, such as a search; reads may be retried. */
  readonly read?: boolean;
}
