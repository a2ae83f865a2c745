import { ThreadEndedError } from "../shared/process/asked.js";
import type { Log } from "../shared/process/log.js";
import { createThread } from "../shared/process/thread.js";
import type { Placed, PlatformMethods } from "./apart/platforms.js";

// A platform makes its sample data in one piece, and computes its answers: in a thread of
// their own, built-in platforms keep nobody waiting who does not call them.

/** Built-in platforms in a thread of their own. */
export interface Apart {
  /**
   * Starts platforms, once.
   *
   * @returns the URL of each.
   * @throws Error in one line, for a port that is taken, a file that cannot be read, or a thread that does not start.
   */
  start(platforms: readonly Placed[]): Promise<readonly string[]>;
  /** Ends the platforms once their changes are written, and the thread. */
  close(): Promise<void>;
}

/** Heap. The sample data of all take a tenth of it; the rest is for what users create. */
const MEGABYTES = 1_024;
/** Heap for what is new. With the usual 32 the process is 20 MB larger, and an answer takes 5 % less. */
const YOUNG_MEGABYTES = 12;
/** How long a start or an end may take, in milliseconds: both take a second, which a busy machine gives them late. */
const CALL_MS = 60_000;
/** How long the ports of a thread that ended may take to be free, in milliseconds. */
const AGAIN_MS = 500;

/**
 * Begins the thread, which loads until it is told which platforms to start. If it ends by itself, it is started once again, with its
 * platforms at the same addresses and with what was written; until then, and if it ends again, calls to them fail as those
 * to a platform that is away.
 *
 * @param megabytes heap of the thread.
 */
export function createApart(log: Log, megabytes = MEGABYTES): Apart {
  let state: "starting" | "serving" | "away" | "closing" = "starting";
  let isSecond = false;
  let placed: readonly Placed[] = [];
  let waiting: NodeJS.Timeout | undefined;
  const thread = createThread<PlatformMethods>(new URL("apart/platforms.js", import.meta.url), {
    megabytes,
    youngMegabytes: YOUNG_MEGABYTES,
    ms: CALL_MS,
    ended(why) {
      if (state !== "serving") return;
      state = "away";
      if (isSecond) {
        log.error(
          { err: why },
          "the built-in platforms ended again: calls to them fail until the service is restarted",
        );
      } else {
        log.error({ err: why }, "the built-in platforms ended; they start again");
        waiting = setTimeout(startAgain, AGAIN_MS).unref();
      }
    },
  });

  async function start(): Promise<readonly string[]> {
    try {
      const urls = await thread.call("start", placed);
      placed = placed.map((one, at) => ({ ...one, port: Number(new URL(urls[at] as string).port) }));
      if (state === "starting") state = "serving";
      return urls;
    } catch (error) {
      await thread.close();
      if (state === "starting") state = "away";
      if (!(error instanceof ThreadEndedError)) throw error;
      throw new Error(`the built-in platforms did not start: ${error.message}`, { cause: error });
    }
  }

  function startAgain(): void {
    isSecond = true;
    state = "starting";
    start().catch((error: unknown) => {
      if (state === "away") log.error({ err: error }, "the built-in platforms did not start again: calls to them fail");
    });
  }

  thread.prepare();
  return {
    start(platforms) {
      placed = platforms;
      return start();
    },
    async close() {
      clearTimeout(waiting);
      const isThere = placed.length > 0 && (state === "starting" || state === "serving");
      state = "closing";
      if (isThere)
        await thread
          .call("close", undefined as never)
          .catch((error: unknown) =>
            log.error({ err: error }, "the last changes in the built-in platforms may not be written"),
          );
      await thread.close();
    },
  };
}
