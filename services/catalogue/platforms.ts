import { PLATFORM_SERVERS, type PlatformAuth, type PlatformServer } from "../shared/platforms.js";
import type { CatalogueStore, PlatformDoc } from "./store.js";

/** How long a heartbeat counts: two may be missed, and platforms send one every five minutes. */
export const FRESH_MS = 11 * 60_000;

/** The most platforms of a server that are looked at: the store keeps the result of a query that has a limit. */
const MOST_PLATFORMS = 1_000;

/** A platform set by configuration. */
export interface ConfiguredPlatform {
  readonly url: string;
  readonly publicUrl: string;
  readonly title: string;
  /** It is a built-in one, which serves until an administrator selects another. */
  readonly isBuiltIn?: boolean;
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

/** A platform of any origin. */
export interface RegisteredPlatform extends ConfiguredPlatform {
  readonly id: string;
  readonly server: PlatformServer;
  readonly version: string;
  readonly lastSeenAt: Date | undefined;
  readonly configured: boolean;
}

/** What is asked to find platforms. */
export interface Registered {
  readonly store: Pick<CatalogueStore, "platforms">;
  readonly configured: ConfiguredPlatforms;
}

/**
 * The platforms of a server, the one that serves first: what the configuration
 * sets, else what an administrator selected last, else a built-in one, else
 * what registered first.
 */
export async function platformsOf(
  { store, configured }: Registered,
  server: PlatformServer,
): Promise<RegisteredPlatform[]> {
  const docs = await store.platforms.find({ server }).limit(MOST_PLATFORMS).toArray();
  docs.sort((a, b) => time(b.selected_at) - time(a.selected_at) || time(a.registered_at) - time(b.registered_at));
  const set = configured[server];
  if (set === undefined) return docs.map((doc) => registered(server, doc));
  // A configured platform may register too: it says its version so.
  const own = docs.find(({ url }) => url === set.publicUrl);
  const first = {
    ...set,
    id: configuredId(server, set),
    server,
    version: own?.version ?? "",
    lastSeenAt: own?.last_seen_at,
    configured: true,
  };
  const others = docs.filter((doc) => doc !== own).map((doc) => registered(server, doc));
  const selected = set.isBuiltIn === true && docs[0]?.selected_at !== undefined ? others.slice(0, 1) : [];
  return [...selected, first, ...others.slice(selected.length)];
}

/** The platform that answers a server's tools; undefined where none is registered. */
export async function servingPlatform(
  from: Registered,
  server: PlatformServer,
): Promise<RegisteredPlatform | undefined> {
  return (await platformsOf(from, server))[0];
}

/** The id of a platform that the configuration sets: no record has it. */
export function configuredId(server: PlatformServer, { isBuiltIn = false }: ConfiguredPlatform): string {
  return `${server}-${isBuiltIn ? "built-in" : "configured"}`;
}

/** The setting that says where a platform is, or runs it, by the platform's id; undefined for one that registered. */
export function configuredBy({ configured }: Pick<Registered, "configured">, id: string): string | undefined {
  for (const server of PLATFORM_SERVERS) {
    const set = configured[server];
    if (set !== undefined && configuredId(server, set) === id)
      return set.isBuiltIn ? "SANDBOX" : `${server.toUpperCase()}_URL`;
  }
  return undefined;
}

function registered(server: PlatformServer, doc: PlatformDoc): RegisteredPlatform {
  const { _id: id, url, reach = url, title, version, last_seen_at: lastSeenAt } = doc;
  return { id, server, url: reach, publicUrl: url, title, version, lastSeenAt, configured: false };
}

/** Milliseconds since the epoch; 0 for never. */
const time = (at: Date | undefined): number => at?.getTime() ?? 0;
