/** One direction of a stream: pushed at one end, iterated once at the other. */
export interface Outbox<T> extends AsyncIterable<T> {
  /** Adds a message; false where the stream has ended or its reader is too far behind, which ends it. */
  push(message: T): boolean;
  /** Ends the stream; what was pushed before is still read. */
  end(): void;
}

/** @param limit how many unread messages are kept before the reader counts as lost. */
export function createOutbox<T>(limit = 10_000): Outbox<T> {
  const waiting: T[] = [];
  let ended = false;
  let wake: (() => void) | undefined;

  const end = (): void => {
    ended = true;
    wake?.();
  };

  return {
    push(message) {
      if (ended) return false;
      if (waiting.length >= limit) {
        end();
        return false;
      }
      waiting.push(message);
      wake?.();
      return true;
    },
    end,
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const message = waiting.shift();
        if (message !== undefined) yield message;
        else if (ended) return;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          wake = undefined;
        }
      }
    },
  };
}
