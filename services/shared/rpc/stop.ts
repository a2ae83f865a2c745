import type { StopSignal } from "./dispatch.js";

/** Tells what runs to stop. An AbortController in its place takes 5 µs more. */
export class Stop implements StopSignal {
  reason: unknown;
  aborted = false;
  #aborter: AbortController | undefined;
  #listeners: (() => void)[] = [];

  /** Tells the same to who needs an AbortSignal, which is made when it is first asked for. */
  get signal(): AbortSignal {
    this.#aborter ??= new AbortController();
    if (this.aborted) this.#aborter.abort(this.reason);
    return this.#aborter.signal;
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners = this.#listeners.filter((one) => one !== listener);
  }

  /** Tells it once. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.#aborter?.abort(reason);
    for (const listener of this.#listeners) listener();
  }
}
