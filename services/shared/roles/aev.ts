import type { RightWords, RoleWords } from "./words.js";

/** What rights are about, with the heading in the tree of capabilities, in its order. */
const AREAS: readonly (readonly [area: string, heading: string])[] = [
  ["ASSESSMENT", "Assessments : Scenarios, simulations and atomic testings"],
  ["ASSETS", "Targets"],
  ["PAYLOADS", "Payloads"],
  ["FINDINGS", "Findings"],
  ["DOCUMENTS", "Content"],
  ["CHANNELS", "Content"],
  ["CHALLENGES", "Content"],
  ["LESSONS_LEARNED", "Content"],
  ["TENANT_SETTINGS", "Tenant settings"],
];

/** Rights for which the role form has no box. */
const WITHOUT_BOX = ["MANAGE_FINDINGS", "DELETE_FINDINGS"];

/** "ACCESS_LESSONS_LEARNED" is shown as "Access lessons learned". */
const labelOf = (id: string): string => id.charAt(0) + id.slice(1).toLowerCase().replaceAll("_", " ");

function rightsOn(area: string, heading: string): readonly (readonly [string, RightWords])[] {
  const [access, manage, remove] = [`ACCESS_${area}`, `MANAGE_${area}`, `DELETE_${area}`];
  const right = (id: string, ...implies: string[]) => {
    const under = [heading, ...implies.toReversed().map(labelOf)];
    const label = WITHOUT_BOX.includes(id) ? {} : { label: labelOf(id) };
    return [id, { ...label, under, ...(implies.length > 0 && { implies }) }] as const;
  };
  const launch = area === "ASSESSMENT" ? [right("LAUNCH_ASSESSMENT", access)] : [];
  return [right(access), right(manage, access), right(remove, manage, access), ...launch];
}

/** OpenAEV: its enum Capability, as far as tools need it; saving a role adds the parents of its capabilities. */
export const AEV_ROLE: RoleWords = {
  release: "OpenAEV 2.4.0",
  rights: Object.fromEntries(AREAS.flatMap(([area, heading]) => rightsOn(area, heading))),
  meets: {
    CREATE_ASSESSMENT: ["MANAGE_ASSESSMENT"],
    SEARCH_FINDINGS: ["ACCESS_FINDINGS"],
  },
  always: [],
  builtIn: [],
  steps: [
    "Under **Settings**, **Security**, open **Roles**, tab **Tenant**, and choose **+**. On the tab **Overview**, give the role a name.",
    "On the tab **Capabilities**, tick the boxes of the role. OpenAEV ticks the boxes above them in the tree. Choose **Create**.",
    "There, open **Groups**, tab **Tenant**. In the menu of a group, choose **Manage roles** and tick the role, then **Manage users** and tick the people.",
    "If the role has a right without a box, send the whole role to the API as an administrator: `PUT /api/roles/{roleId}` with `role_name` and the ids of its rights in `role_capabilities`.",
  ],
  notes: [
    "The role holds in one tenant: create it in each tenant that people work in.",
    "The role opens all scenarios, simulations and atomic tests of the tenant. To open single ones, leave the role out and choose **Manage grants** in the menu of the group: *Access* reads, *Manage+Delete* also changes, *Launch* also launches.",
    "**Manage tenant settings** and **Delete tenant settings** also open the users, groups and roles of the tenant. Leave them out unless people write vulnerabilities.",
    "Tools that need no right list only what the person may see.",
  ],
};
