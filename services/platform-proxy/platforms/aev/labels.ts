import { notFound } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import { searchAll } from "./search.js";
import type { TenantScope } from "./tenant.js";

interface UpstreamTag {
  readonly tag_id: string;
  readonly tag_name: string;
}

const MAX_LABELS = 5_000;

// Labels are called tags on the platform.

/** The names of labels by id; asks nothing where no id is given. */
export async function labelNames(
  platform: Platform,
  tenant: TenantScope,
  ids: readonly (readonly string[] | null | undefined)[],
): Promise<(ids: readonly string[] | null | undefined) => string[]> {
  const names = new Map<string, string>();
  if (ids.some((list) => list != null && list.length > 0)) {
    for await (const tag of allTags(platform, tenant)) names.set(tag.tag_id, tag.tag_name);
  }
  return (list) => (list ?? []).map((id) => names.get(id) ?? id);
}

/**
 * The ids of labels given by name, in any case, or by id. The platform drops
 * ids it does not know without a word, so all are looked up before a write.
 *
 * @throws ConnectError not_found that names every unknown label.
 */
export async function labelIds(platform: Platform, tenant: TenantScope, given: readonly string[]): Promise<string[]> {
  if (given.length === 0) return [];
  const ids = new Map<string, string>();
  for await (const { tag_id, tag_name } of allTags(platform, tenant)) {
    ids.set(tag_id, tag_id);
    ids.set(tag_name.toLowerCase(), tag_id);
  }
  const unknown = given.filter((label) => !ids.has(label.toLowerCase()));
  if (unknown.length > 0) {
    throw notFound(
      `labels: there is no label ${unknown.map((label) => `"${label}"`).join(", ")} in tenant ${tenant.name}`,
    );
  }
  return [...new Set(given.map((label) => ids.get(label.toLowerCase()) as string))];
}

function allTags(platform: Platform, tenant: TenantScope): AsyncGenerator<UpstreamTag, void> {
  const sorts = [{ property: "tag_name", direction: "asc" }] as const;
  return searchAll<UpstreamTag>(platform, tenant, { route: "/tags/search", idKey: "tag_id", sorts }, MAX_LABELS);
}
