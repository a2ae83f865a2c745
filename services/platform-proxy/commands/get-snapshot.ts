import type { Call } from "../../shared/rpc/call.js";
import type { PlatformServer, Snapshot } from "../adapter.js";
import type { Sessions } from "../sessions.js";

/** What a platform, and the caller on it, can do; kept for up to 30 seconds. */
export async function getSnapshot(server: PlatformServer, call: Call, sessions: Sessions): Promise<Snapshot> {
  const session = await sessions.session(server, "GetSnapshot", call);
  return sessions.identities.snapshot(sessions.adapterOf(server), session);
}
