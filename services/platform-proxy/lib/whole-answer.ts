import { GrowingBytes } from "../../shared/growing-bytes.js";
import type { Agent, Dispatcher } from "../../shared/outgoing/agent.js";
import type { StopSignal } from "../../shared/rpc/dispatch.js";

/** An answer that was taken to its end. */
export interface WholeAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** In memory of its own. */
  readonly bytes: Uint8Array;
}

/**
 * Sends a request and takes the whole answer. The `request` of undici gives a stream for each answer, with which an exchange
 * takes 1.4 times the CPU time.
 *
 * @param heard is told the status as soon as it is here.
 * @throws what undici throws, or the reason to stop, at once: what is not sent by then is not sent any more.
 */
export function wholeAnswerOf(
  agent: Agent,
  request: Dispatcher.DispatchOptions,
  stop: StopSignal,
  heard: (status: number) => void,
): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    if (stop.aborted) reject(stop.reason);
    else agent.dispatch(request, new Taking(stop, heard, resolve, reject));
  });
}

/** One answer that comes. */
class Taking implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: WholeAnswer["headers"] = {};
  readonly #bytes = new GrowingBytes();

  constructor(
    private readonly stop: StopSignal,
    private readonly heard: (status: number) => void,
    private readonly resolve: (answer: WholeAnswer) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    stop.addEventListener("abort", this.#giveUp);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.stop.aborted) controller.abort(this.stop.reason as Error);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: WholeAnswer["headers"]): void {
    // An interim response (RFC 9110 section 15.2): the final one follows.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.heard(status);
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#bytes.add(piece);
  }

  onResponseEnd(): void {
    this.#end();
    this.resolve({ status: this.#status, headers: this.#headers, bytes: this.#bytes.whole() });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end();
    this.reject(error);
  }

  readonly #giveUp = (): void => {
    this.#end();
    this.reject(this.stop.reason);
    this.#controller?.abort(this.stop.reason as Error);
  };

  #end(): void {
    this.stop.removeEventListener("abort", this.#giveUp);
  }
}
