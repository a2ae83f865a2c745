import type { PlatformAuth, PlatformServer } from "../shared/platforms.js";
import type { PlatformDoc } from "./store.js";

/** How long a heartbeat counts: two may be missed, and platforms send one every five minutes. */
export const FRESH_MS = 11 * 60_000;

/** A platform set by configuration. */
export interface ConfiguredPlatform {
  readonly url: string;
  readonly publicUrl: string;
  readonly title: string;
}

/** The platforms set by configuration, by server. */
export type ConfiguredPlatforms = Readonly<Partial<Record<PlatformServer, ConfiguredPlatform>>>;

/** How a platform takes our token, where configuration chooses. */
export interface PlatformAuthentication {
  readonly auth: PlatformAuth;
  /** The client id of the exchange; the platform's public URL where left out. */
  readonly clientId: string | undefined;
}

/** How platforms take our token, by server; one that is left out takes it in its default way. */
export type PlatformAuthentications = Readonly<Partial<Record<PlatformServer, PlatformAuthentication>>>;

/** A platform of either origin. */
export interface RegisteredPlatform extends ConfiguredPlatform {
  readonly server: PlatformServer;
  readonly version: string;
  readonly lastSeenAt: Date | undefined;
  readonly configured: boolean;
}

/** Configuration wins over a platform's own registration. */
export function registeredPlatform(
  server: PlatformServer,
  configured: ConfiguredPlatforms,
  doc: PlatformDoc | null,
): RegisteredPlatform | undefined {
  const set = configured[server];
  if (set !== undefined) {
    const own = doc?.url === set.publicUrl ? doc : null;
    return { ...set, server, version: own?.version ?? "", lastSeenAt: own?.last_seen_at, configured: true };
  }
  if (doc === null) return undefined;
  const { url, title, version, last_seen_at: lastSeenAt } = doc;
  return { server, url, publicUrl: url, title, version, lastSeenAt, configured: false };
}
