import type { Call } from "../../shared/rpc/call.js";
import type { PlatformServer } from "../adapter.js";
import type { Sessions } from "../sessions.js";

const PROBE_MS = 3_000;

/** Whether a platform answers, and why not. */
export async function probePlatform(
  server: PlatformServer,
  call: Call,
  sessions: Sessions,
): Promise<{ reachable: boolean; reason: string }> {
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(PROBE_MS)]);
  const target = await sessions.targets.of(server);
  const reason = await sessions.adapterOf(server).probe(sessions.http, target, signal);
  return { reachable: reason === undefined, reason: reason ?? "" };
}
