import type { Base, CollectionSpec, DocCollection, Store } from "../shared/store/store.js";

/** The switches; one record, made at first start. */
export interface SwitchesDoc extends Base {
  readonly platform_servers: boolean;
  readonly core: boolean;
  readonly ai: boolean;
  /** Who last turned each, and when; absent of those that nobody has turned, or before this was kept. */
  readonly platform_servers_turned?: Turned;
  readonly core_turned?: Turned;
  readonly ai_turned?: Turned;
}

/** That an administrator turned a switch. */
export interface Turned {
  /** The id of the user. */
  readonly by: string;
  readonly at: Date;
}

/** A platform that registered itself, or was by an administrator; of several of a server one serves. */
export interface PlatformDoc extends Base {
  readonly server: string;
  /** What it calls itself. */
  readonly url: string;
  /** Where it is called, where that is elsewhere. */
  readonly reach?: string;
  readonly title: string;
  readonly version: string;
  /** "" where it says none. */
  readonly platform_id: string;
  /** The id of the token that registered it, which alone changes it; absent of those that an administrator added, and that were there before. */
  readonly token?: string;
  /** Absent of those that were there before several could be. */
  readonly registered_at?: Date;
  /** When an administrator last let it serve; the newest of a server counts. */
  readonly selected_at?: Date;
  /** Its last heartbeat; absent where it never sent one. */
  readonly last_seen_at?: Date;
}

/** A token by which platforms register themselves; only its digest is kept. */
export interface RegistrationTokenDoc extends Base {
  readonly name: string;
  readonly digest: string;
  readonly created_at: Date;
  /** Whose platform may use it; of a configured one, and of those made before there was a choice, that of its first use. */
  readonly server?: string;
  /** The platform that used it first, and alone may use it since. */
  readonly platform?: { readonly platform_id: string; readonly url: string };
  /** The platform that used it before it was forgotten: no other token registers that one. */
  readonly forgotten?: { readonly server: string; readonly platform_id: string; readonly url: string };
  /** The record of the registered platform that is to go on with it. */
  readonly successor_of?: string;
  /** When it ends if no platform uses it. */
  readonly expires_at?: Date;
  /** When a platform last registered with it. */
  readonly last_used_at?: Date;
}

/** The catalogue's collections. */
export const COLLECTIONS: readonly CollectionSpec[] = [
  {
    name: "switches",
    indexes: [],
  },
  {
    name: "platforms",
    indexes: [{ name: "server", key: { server: 1 } }],
  },
  {
    name: "registration_tokens",
    indexes: [{ name: "digest", key: { digest: 1 }, unique: true }],
  },
];

/** The id of the one record of switches, and of the event of their turning. */
export const SWITCHES_ID = "switches";

/** The records of the catalogue. */
export interface CatalogueStore {
  readonly switches: DocCollection<SwitchesDoc>;
  readonly platforms: DocCollection<PlatformDoc>;
  readonly registrationTokens: DocCollection<RegistrationTokenDoc>;
}

/** Creates what is missing and gives the records. */
export async function openCatalogueStore(store: Store): Promise<CatalogueStore> {
  await store.ensure(COLLECTIONS);
  return {
    switches: store.collection("switches"),
    platforms: store.collection("platforms"),
    registrationTokens: store.collection("registration_tokens"),
  };
}
