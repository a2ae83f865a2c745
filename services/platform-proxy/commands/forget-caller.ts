import { PLATFORM_SERVERS } from "../adapter.js";
import type { Sessions } from "../sessions.js";

/** Forgets what is kept for a user, and ends the user's sessions at the platforms. */
export async function forgetCaller(userId: string, sessions: Sessions): Promise<void> {
  sessions.identities.forget(userId);
  await Promise.all(PLATFORM_SERVERS.map((server) => sessions.adapterOf(server).forget?.(userId)));
}
