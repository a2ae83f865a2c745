/** Where lines go in the end: what takes a text, and can be told to write all of it at once. */
export interface LineTarget {
  write(text: string): unknown;
  /** Writes what waits, and a text behind it, before it returns: when a process ends, Node drops writes that no thread has begun. */
  flushSync(text: string): void;
}

/** How long a line waits for others at most, in milliseconds. */
const GATHER_MS = 20;
/** Bytes that are written together: so much of a process stays together if others write to the same pipe (pipe(7), PIPE_BUF). */
const MOST = 4_096;

/**
 * Writes lines some at a time. Each write is another thread's work, and to hand it over costs several times what a line
 * costs to make. When the process exits, also after an error that nobody caught, what waits is written first.
 */
export function gatheredLines(target: LineTarget): { write(line: string): void } {
  let waiting = "";
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;

  function taken(): string {
    clearTimeout(timer);
    timer = undefined;
    const text = waiting;
    waiting = "";
    bytes = 0;
    return text;
  }

  function pass(): void {
    const text = taken();
    if (text !== "") target.write(text);
  }

  process.once("exit", () => target.flushSync(taken()));
  return {
    write(line) {
      const length = Buffer.byteLength(line);
      if (bytes + length > MOST) pass();
      waiting += line;
      bytes += length;
      if (bytes >= MOST) return pass();
      // What waits keeps no process alive: it is written at its end.
      timer ??= setTimeout(pass, GATHER_MS).unref();
    },
  };
}
