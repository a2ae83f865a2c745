import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { isUnreached } from "./reasons.js";

/** How long a service that does not answer is waited for, in milliseconds: a restart takes less. */
const PATIENCE_MS = 120_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

/** Does what can be done twice, and again while the service does not answer or has too much to do. */
export async function patiently<T>(work: () => Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  const end = Date.now() + patienceMs;
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(LONGEST_WAIT_MS, wait * 2)) {
    try {
      return await work();
    } catch (error) {
      const again = waitAfter(error, wait);
      if (again === undefined || Date.now() + again > end) throw error;
      await sleep(again);
    }
  }
}

function waitAfter(error: unknown, wait: number): number | undefined {
  const { code, metadata, cause } = ConnectError.from(error);
  const said = Number(metadata.get("retry-after") ?? Number.NaN) * 1_000;
  if (!Number.isNaN(said)) return said;
  // The connection broke in the middle: an answer of the service has no such cause.
  const isBroken = isUnreached(error) || typeof (cause as NodeJS.ErrnoException | undefined)?.code === "string";
  return isBroken || code === Code.Unavailable || code === Code.DeadlineExceeded ? wait : undefined;
}
