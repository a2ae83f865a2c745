/**
 * Passes a stream on until a signal is aborted; `atEnd` then says how it ends:
 * it returns, or it throws.
 *
 * @param leaves tells the stream that nobody reads on; a request's body is left
 *   as it is, for its answer goes the same way.
 */
export async function* until<T>(
  stream: AsyncIterable<T>,
  signal: AbortSignal,
  atEnd: () => void,
  leaves: boolean,
): AsyncIterable<T> {
  const iterator = stream[Symbol.asyncIterator]();
  let end = (): void => undefined;
  const onAbort = (): void => end();
  signal.addEventListener("abort", onAbort);
  let isDone = false;
  try {
    while (!signal.aborted) {
      // A promise of its own for each: one that all are raced against would keep them all.
      const next = await new Promise<IteratorResult<T> | undefined>((resolve, reject) => {
        end = () => resolve(undefined);
        iterator.next().then(resolve, reject);
      });
      if (next === undefined) break;
      if (next.done) {
        isDone = true;
        return;
      }
      yield next.value;
    }
    atEnd();
  } finally {
    signal.removeEventListener("abort", onAbort);
    // A method may be in the middle of something: nobody waits for it.
    if (leaves && !isDone) void iterator.return?.().catch(() => undefined);
  }
}
