import { Code, ConnectError } from "@connectrpc/connect";

/**
 * Which of several processes of a service is called: one, for all calls and
 * streams, until it fails; then the next. So a caller hears of changes from the
 * process that it asks.
 */
export interface Choice {
  /**
   * Makes a call. If its process cannot be reached, another one is asked: always if the call may be repeated,
   * otherwise only if the first cannot have heard it.
   *
   * @param repeatable whether it does no harm that the call is made twice.
   * @param make is given a signal where it has to heed another one than the call's own.
   */
  call<T>(
    repeatable: boolean,
    out: { readonly signal?: AbortSignal | undefined },
    make: (url: string, signal?: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** Gives the responses of a call; where its process cannot be reached, the next call asks another. */
  follow<T>(open: (url: string) => Promise<AsyncIterable<T>>): AsyncIterable<T>;
  /** As `follow`, for a stream that is meant to stay: its end, for whatever reason, says that the process is gone. */
  hold<T>(open: (url: string) => Promise<AsyncIterable<T>>): AsyncIterable<T>;
}

/** Codes of system errors after which nothing can have been asked. */
const UNASKED: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH"]);

/** @param urls at least one. */
export function createChoice(urls: readonly string[]): Choice {
  let at = 0;
  let gone = new AbortController();
  const several = urls.length > 1;

  /** Whoever waits for this process asks the next, if it may. */
  function leave(from: number): void {
    if (!several || from !== at) return;
    at++;
    const left = gone;
    gone = new AbortController();
    left.abort();
  }
  const urlAt = (place: number): string => urls[place % urls.length] as string;

  async function* streamed<T>(
    open: (url: string) => Promise<AsyncIterable<T>>,
    leavesAtEnd: boolean,
  ): AsyncIterable<T> {
    const from = at;
    let isGone = leavesAtEnd;
    try {
      yield* await open(urlAt(from));
    } catch (error) {
      isGone ||= isUnreachable(error);
      throw error;
    } finally {
      if (isGone) leave(from);
    }
  }

  const callOneOfSeveral: Choice["call"] = async (repeatable, { signal }, make) => {
    for (let tries = 1; ; tries++) {
      const [from, { signal: left }] = [at, gone];
      const either = signal === undefined ? left : AbortSignal.any([signal, left]);
      try {
        return repeatable ? await make(urlAt(from), either) : await make(urlAt(from));
      } catch (error) {
        if (signal?.aborted === true || !isUnreachable(error)) throw error;
        leave(from);
        if (tries >= urls.length || !(repeatable || isUnasked(error))) throw error;
      }
    }
  };

  return {
    call: (repeatable, out, make) => (several ? callOneOfSeveral(repeatable, out, make) : make(urlAt(at))),
    follow: (open) => streamed(open, false),
    hold: (open) => streamed(open, true),
  };
}

/**
 * Whether a call that its caller has not cancelled failed with its connection.
 * What a service answers, "unavailable" too, has no system error behind it.
 */
function isUnreachable(error: unknown): boolean {
  const { code, cause } = ConnectError.from(error);
  return code === Code.Canceled || (cause !== undefined && code !== Code.DeadlineExceeded);
}

function isUnasked(error: unknown): boolean {
  return UNASKED.has((ConnectError.from(error).cause as { code?: unknown } | undefined)?.code);
}
