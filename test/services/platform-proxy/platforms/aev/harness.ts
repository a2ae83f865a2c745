import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { type AevHarness, type AevOptions, startAev } from "../../../../support/platforms/aev.js";

/** The aev harness with the person first. */
export interface Stack extends Pick<AevHarness, "issuer" | "sandbox" | "ask" | "close"> {
  call<I extends DescMessage, O extends DescMessage>(
    person: string,
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
  ): Promise<MessageShape<O>>;
  stream<I extends DescMessage, O extends DescMessage>(
    person: string,
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    signal?: AbortSignal,
  ): AsyncIterable<MessageShape<O>>;
}

/** Starts the aev tools in front of a sandbox. */
export async function startStack(options: AevOptions = {}): Promise<Stack> {
  const harness = await startAev(options);
  return {
    ...harness,
    call: (person, method, request) => harness.call(method, request, person),
    stream: (person, method, request, signal) => harness.stream(method, request, person, signal),
  };
}
