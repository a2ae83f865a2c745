import { notFound } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import { searchAll } from "./search.js";
import type { TenantScope } from "./tenant.js";

interface UpstreamDocumentName {
  readonly document_id: string;
  readonly document_name: string;
}

/** The most documents that names are looked up among. */
const MAX_DOCUMENTS = 10_000;

/**
 * The names of documents by their ids, of those that the caller may see.
 *
 * @throws ConnectError permission_denied where that is none.
 */
export async function documentNames(
  platform: Platform,
  tenant: TenantScope,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  if (ids.length === 0) return found;
  const search = {
    route: "/documents/search",
    idKey: "document_id",
    sorts: [{ property: "document_name", direction: "asc" }],
  } as const;
  for await (const row of searchAll<UpstreamDocumentName>(platform, tenant, search, MAX_DOCUMENTS)) {
    if (ids.includes(row.document_id)) found.set(row.document_id, row.document_name);
    if (found.size === ids.length) break;
  }
  return found;
}

/** The ids of documents to attach. @throws ConnectError not_found: the platform drops unknown ones without a word. */
export async function documentIds(
  platform: Platform,
  tenant: TenantScope,
  given: readonly string[],
  argument = "document_ids",
): Promise<string[]> {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))];
  const names = await documentNames(platform, tenant, ids);
  const unknown = ids.filter((id) => !names.has(id));
  if (unknown.length > 0) {
    throw notFound(`${argument}: there is no document ${unknown.join(", ")} in tenant ${tenant.name}`);
  }
  return ids;
}
