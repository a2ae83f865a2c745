import type { PlatformDoc } from "./store.js";

export const PLATFORM_SERVERS = ["cti", "aev", "grc"] as const;
export type PlatformServer = (typeof PLATFORM_SERVERS)[number];

/** How long a heartbeat counts: two may be missed, and platforms send one every five minutes. */
export const FRESH_MS = 11 * 60_000;

/** A platform set by configuration. */
export interface ConfiguredPlatform {
  readonly url: string;
  readonly publicUrl: string;
  readonly title: string;
}

export type ConfiguredPlatforms = Readonly<Partial<Record<PlatformServer, ConfiguredPlatform>>>;

/** How the platform behind grc takes our token. */
export interface GrcAuthentication {
  readonly auth: "exchange" | "bearer";
  /** The client id of the exchange; the platform's public URL where left out. */
  readonly clientId: string | undefined;
}

/** A platform of either origin. */
export interface RegisteredPlatform extends ConfiguredPlatform {
  readonly server: PlatformServer;
  readonly version: string;
  readonly lastSeenAt: Date | undefined;
  readonly configured: boolean;
}

/** The server that answers with a kind of platform, by the name the platform gives itself. */
export const SERVER_OF_IDENTIFIER: Readonly<Record<string, PlatformServer>> = {
  opencti: "cti",
  openaev: "aev",
  "ciso-assistant": "grc",
};

export function isPlatformServer(server: string): server is PlatformServer {
  return (PLATFORM_SERVERS as readonly string[]).includes(server);
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
    return { ...set, server, version: own?.version ?? "", lastSeenAt: own?.lastSeenAt, configured: true };
  }
  if (doc === null) return undefined;
  const { url, title, version, lastSeenAt } = doc;
  return { server, url, publicUrl: url, title, version, lastSeenAt, configured: false };
}
