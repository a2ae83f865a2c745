/** No thread is free: too many remotes are read at the moment. */
export class BusyError extends Error {}

interface Waiting {
  readonly owner: string;
  go(): void;
}

/** Those that wait for a thread, in the order in which they came. */
export class Turns {
  readonly #waiting: Waiting[] = [];

  /** @param ms how long anybody waits, in milliseconds. */
  constructor(private readonly ms: number) {}

  /**
   * Waits for a turn.
   *
   * @throws BusyError where none comes in time; the signal's reason.
   */
  wait(owner: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settled = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", aborted);
        const at = this.#waiting.indexOf(one);
        if (at >= 0) this.#waiting.splice(at, 1);
      };
      const leave = (error: Error): void => {
        settled();
        reject(error);
      };
      const aborted = (): void => leave(signal.reason as Error);
      const words = "too many calls to other services are in progress: try again later";
      const timer = setTimeout(() => leave(new BusyError(words)), this.ms);
      const one: Waiting = {
        owner,
        go() {
          settled();
          resolve();
        },
      };
      signal.addEventListener("abort", aborted, { once: true });
      this.#waiting.push(one);
    });
  }

  /** Lets those go that may have a thread now: they look themselves, and wait again where another was faster. */
  next(hasRoom: (owner: string) => boolean): void {
    for (const one of this.#waiting.filter(({ owner }) => hasRoom(owner))) one.go();
  }
}
