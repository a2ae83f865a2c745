/** Rights by the first part of a route: what follows ACCESS_, MANAGE_ and DELETE_. */
const AREAS: Readonly<Record<string, string>> = {
  asset_groups: "ASSETS",
  endpoints: "ASSETS",
  findings: "FINDINGS",
  vulnerabilities: "TENANT_SETTINGS",
  documents: "DOCUMENTS",
  channels: "CHANNELS",
  challenges: "CHALLENGES",
  lessons_templates: "LESSONS_LEARNED",
};

/** Below a scenario or simulation: reading needs as little as reading that, and so does all that is done to reports. */
const BELOW = /^(\w+) \/(scenarios|exercises)\/[^/]+\/(?:(articles|lessons_\w+)|(reports|challenges))\b/;
const NOUN: Readonly<Record<string, string>> = { scenarios: "scenario", exercises: "simulation" };
/** Findings below an object are its own. */
const FINDINGS_OF = /^POST \/findings\/\w+\/[^/]+\/search$/;
const READS = /^GET |^POST .*\/(?:search|find)$/;

/**
 * What a route of assets, findings, vulnerabilities and content asks for: a
 * right, and the grant that stands for it; undefined for other routes.
 *
 * @param route the verb and what follows the tenant, such as `GET /documents/1`.
 */
export function contentRightOf(route: string): readonly [area: string, right: string, grant?: string] | undefined {
  const [, verb = "", plans, written] = BELOW.exec(route) ?? [];
  if (plans !== undefined) {
    const noun = NOUN[plans] as string;
    return verb === "GET" || written === undefined
      ? [plans, "ACCESS_ASSESSMENT", `OBSERVER on this ${noun}`]
      : [plans, "MANAGE_ASSESSMENT", `PLANNER on this ${noun}`];
  }
  const [, first = ""] = /^\w+ \/(\w+)/.exec(route) ?? [];
  const area = AREAS[first];
  if (area === undefined || FINDINGS_OF.test(route)) return undefined;
  // What lies below an object is changed with the object.
  const isDeletion = /^DELETE \/\w+\/[^/]+$/.test(route);
  return [area, `${READS.test(route) ? "ACCESS" : isDeletion ? "DELETE" : "MANAGE"}_${area}`];
}
