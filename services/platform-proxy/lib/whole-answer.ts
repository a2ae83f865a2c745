import type { Agent, Dispatcher } from "../../shared/outgoing/agent.js";

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
 * @throws what undici throws, or the reason of the signal, at once: what is not sent by then is not sent any more.
 */
export function wholeAnswerOf(
  agent: Agent,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
  heard: (status: number) => void,
): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else agent.dispatch(request, new Taking(signal, heard, resolve, reject));
  });
}

/** One answer that comes. */
class Taking implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: WholeAnswer["headers"] = {};
  readonly #pieces: Buffer[] = [];

  constructor(
    private readonly signal: AbortSignal,
    private readonly heard: (status: number) => void,
    private readonly resolve: (answer: WholeAnswer) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    signal.addEventListener("abort", this.#stop);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.signal.aborted) controller.abort(this.signal.reason as Error);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: WholeAnswer["headers"]): void {
    // An interim response (RFC 9110 section 15.2): the final one follows.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.heard(status);
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#pieces.push(piece);
  }

  onResponseEnd(): void {
    this.#end();
    this.resolve({ status: this.#status, headers: this.#headers, bytes: joined(this.#pieces) });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end();
    this.reject(error);
  }

  readonly #stop = (): void => {
    this.#end();
    this.reject(this.signal.reason);
    this.#controller?.abort(this.signal.reason as Error);
  };

  #end(): void {
    this.signal.removeEventListener("abort", this.#stop);
  }
}

function joined(pieces: readonly Buffer[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
