import { Code, ConnectError } from "@connectrpc/connect";
import { useEffect, useRef, useState } from "react";
import { RunService } from "#api/core/v1/run_service_pb";
import { transport } from "../../service/transport";

const { followRun } = RunService.method;

/** How long one stream is open, in seconds. */
const OPEN_SECONDS = 50;
const AGAIN_MS = 2_000;
/** Characters of a text that are shown while it is written. */
const MOST = 20_000;
/** How often what is written is shown, in milliseconds. */
const SHOWN_MS = 100;

/** A run while it goes on. */
export interface Following {
  /** What its model writes at the moment. */
  readonly text: string;
  /** The stream was cut, and is opened again. */
  readonly isCut: boolean;
}

const NOTHING: Following = { text: "", isCut: false };

/**
 * Follows a run while it goes on.
 *
 * @param changed hears of each step, and of the end.
 */
export function useFollowing(runId: string, isGoing: boolean, changed: () => void): Following {
  const [now, set] = useState(NOTHING);
  const tell = useRef(changed);
  tell.current = changed;
  useEffect(() => {
    if (!isGoing) return set(NOTHING);
    const closing = new AbortController();
    void follow(runId, closing.signal, set, () => tell.current());
    return () => closing.abort();
  }, [runId, isGoing]);
  return now;
}

async function follow(
  runId: string,
  signal: AbortSignal,
  show: (now: Following) => void,
  changed: () => void,
): Promise<void> {
  for (;;) {
    try {
      await once(runId, signal, show, changed);
      if (signal.aborted) return;
      changed();
      // Whether it ended, the run says when it is read: a moment later nobody follows it any more.
      await sleep(SHOWN_MS);
    } catch (error) {
      const { code } = ConnectError.from(error);
      if (signal.aborted || code === Code.NotFound || code === Code.PermissionDenied) return;
      if (code === Code.Unauthenticated) return changed();
      show({ text: "", isCut: true });
      await sleep(AGAIN_MS);
    }
    if (signal.aborted) return;
  }
}

/** One stream: it begins with all that is written of the present step. */
async function once(
  runId: string,
  signal: AbortSignal,
  show: (now: Following) => void,
  changed: () => void,
): Promise<void> {
  let [text, step, shownAt] = ["", -1, 0];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const draw = (): void => {
    timer = undefined;
    shownAt = performance.now();
    if (!signal.aborted) show({ text, isCut: false });
  };
  const request = { runId, waitSeconds: OPEN_SECONDS };
  const timeoutMs = (OPEN_SECONDS + 15) * 1_000;
  const stream = await transport.stream(followRun, signal, timeoutMs, undefined, only(request));
  try {
    for await (const { event } of stream.message) {
      if (event.case !== "progress") continue;
      const { done, text: more = "" } = event.value;
      if (Math.floor(done) !== step) {
        step = Math.floor(done);
        text = "";
        changed();
      }
      text = (text + more).slice(-MOST);
      timer ??= setTimeout(draw, Math.max(0, SHOWN_MS - (performance.now() - shownAt)));
    }
  } finally {
    // What is drawn later would hide that the stream was cut.
    clearTimeout(timer);
  }
}

async function* only<T>(one: T): AsyncIterable<T> {
  yield one;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
