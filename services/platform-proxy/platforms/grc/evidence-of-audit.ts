import type { Query } from "../../lib/http.js";
import type { Platform } from "../../platform.js";
import { CONTROLS } from "./control.js";
import { chunksOf, type InFolder, queriesOf, readAll } from "./lists.js";
import { AUDITS, coveredBy, type UpstreamAudit } from "./scope.js";
import { domainIdsOf, readOwned, type Tenant } from "./tenancy.js";
import { type Related, referencesOf } from "./upstream.js";

interface Audit extends UpstreamAudit {
  readonly evidences?: readonly Related[];
}

/**
 * The queries that together list the evidence of an audit: its own, that of the
 * requirements that it covers, and that of the controls that answer those.
 *
 * @param control leaves out the evidence of other controls.
 * @throws ConnectError not_found for an audit that is not the tenant's.
 */
export async function queriesOfAudit(
  platform: Platform,
  query: Query,
  audit: string,
  control: string | undefined,
  tenant: Tenant,
): Promise<Query[]> {
  const read = await readOwned<Audit>(platform, AUDITS, audit, "assessment_id", tenant);
  const domains = domainIdsOf(tenant);
  const inDomains = (narrowed: Query) => queriesOf(narrowed, "folder", domains);
  const lines = chunksOf([...(await coveredBy(platform, read))]);
  const answering = lines.flatMap((some) => inDomains({ requirement_assessments: some }));
  const found = await readAll<InFolder & { readonly id: string }>(platform, CONTROLS, answering, tenant);
  const controls = found.map(({ id }) => id).filter((id) => control === undefined || id === control);
  const own = referencesOf(read.evidences).seen.map(({ id }) => id);
  return [
    ...lines.flatMap((some) => inDomains({ ...query, requirement_assessments: some })),
    ...chunksOf(controls).flatMap((some) => inDomains({ ...query, applied_controls: some })),
    ...chunksOf(own).flatMap((some) => inDomains({ ...query, id: some.join(",") })),
  ];
}
