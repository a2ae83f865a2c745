import type { Base, CollectionSpec, DocCollection, Store } from "../shared/store/store.js";

/** The switches; one record, made at first start. */
export interface SwitchesDoc extends Base {
  readonly platformServers: boolean;
  readonly core: boolean;
  readonly ai: boolean;
}

/** A platform that registered itself; one record a server. */
export interface PlatformDoc extends Base {
  readonly url: string;
  readonly title: string;
  readonly version: string;
  readonly platformId: string;
  readonly lastSeenAt: Date;
}

/** A token by which platforms register themselves; only its digest is kept. */
export interface RegistrationTokenDoc extends Base {
  readonly name: string;
  readonly digest: string;
  readonly createdAt: Date;
}

export const COLLECTIONS: readonly CollectionSpec[] = [
  { name: "switches", indexes: [] },
  { name: "platforms", indexes: [] },
  { name: "registration_tokens", indexes: [{ name: "digest", key: { digest: 1 }, unique: true }] },
];

export const SWITCHES_ID = "switches";

export interface CatalogueStore {
  readonly switches: DocCollection<SwitchesDoc>;
  readonly platforms: DocCollection<PlatformDoc>;
  readonly registrationTokens: DocCollection<RegistrationTokenDoc>;
}

export async function openCatalogueStore(store: Store): Promise<CatalogueStore> {
  await store.ensure(COLLECTIONS);
  return {
    switches: store.collection("switches"),
    platforms: store.collection("platforms"),
    registrationTokens: store.collection("registration_tokens"),
  };
}
