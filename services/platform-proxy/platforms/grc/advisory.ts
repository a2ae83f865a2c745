import type { Platform } from "../../platform.js";
import type { CisoMe } from "./adapter.js";
import { type InFolder, readPage } from "./lists.js";
import type { Decimal } from "./upstream.js";

/** A published vulnerability, as the platform shows it. */
export interface UpstreamAdvisory extends InFolder {
  readonly id: string;
  readonly ref_id: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly cvss_base_score: Decimal;
  readonly cvss_vector?: string | null;
  readonly epss_score: Decimal;
  readonly is_actively_exploited: boolean;
  readonly exploited_date_added: string | null;
  readonly published_date: string | null;
  readonly references?: readonly { readonly str?: string }[];
  /** What other catalogues call it. */
  readonly aliases?: readonly { readonly str?: string }[];
}

/** The list of advisories. */
export const ADVISORIES = "/api/security-advisories/";
/** No two have the same identifier from one source; the platform's search finds a few more. */
const NEAR = 50;

/** Those that all tenants share: feeds put them above the tenants, and at the end, so that places keep. */
export async function sharedOnes(platform: Platform, search: string | undefined) {
  const { rootId } = await platform.me<CisoMe>();
  return { search, source: "CVE", folder: rootId, ordering: "created_at,id" };
}

/** The CVE with an identifier, in any case; undefined where the platform has none. */
export async function advisoryOf(platform: Platform, identifier: string): Promise<UpstreamAdvisory | undefined> {
  const wanted = identifier.toUpperCase();
  const query = await sharedOnes(platform, wanted);
  const found = await readPage<UpstreamAdvisory>(platform, ADVISORIES, query, { size: NEAR, offset: 0 });
  return found.rows.find(({ ref_id, folder }) => ref_id?.toUpperCase() === wanted && folder.id === query.folder);
}
