import { may, type Ownership } from "../policy.js";
import type { Principals } from "../principals.js";

/**
 * Whether a knowledge base may still use an integration: its owner must be able to read it now, not only when the
 * knowledge base was made. A company-managed knowledge base has no owner, so everyone must be able to read its
 * integration.
 */
export async function mayUse(
  principals: Pick<Principals, "groupsOf">,
  base: Pick<Ownership, "owner">,
  integration: Ownership,
): Promise<boolean> {
  const owner = { id: base.owner, admin: false };
  if (may({ ...owner, groups: [] }, "read", integration)) return true;
  const isSharedWithGroups = integration.acl.some(({ p }) => p.startsWith("g:"));
  if (base.owner === "" || !isSharedWithGroups) return false;
  return may({ ...owner, groups: await principals.groupsOf(base.owner) }, "read", integration);
}
