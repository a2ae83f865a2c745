import { expect } from "vitest";
import { everyPage, type Row } from "../../frame/pages.js";
import { sameIds, type Truth } from "../../frame/table.js";
import { idOf, LISTS } from "../seen.js";
import { holdsNothingHidden, personOf, readWhole, refuses, type Stage, seenBy, tenantOf } from "../stage.js";

/** Who works in a tenant. */
export const WORKERS = [
  "administrator",
  "analyst",
  "reader",
  "granted",
  "manager",
  "both",
  "respondent",
  "auditee",
  "overseer",
  "tester",
] as const;
/** Who has no role, and who no account. */
export const STRANGERS = ["outsider", "nobody"] as const;

/** The sentence of who has nowhere to work. */
export const NOWHERE = /you have no tenant|no account with your e-mail|unknown tool|may not|right/i;

const TYPES: Readonly<Record<string, { readonly path: string; readonly tool?: string; readonly argument?: string }>> = {
  framework: { path: LISTS.framework, tool: "get_framework", argument: "framework_id" },
  requirement: { path: "/api/requirement-nodes/" },
  reference_control: { path: "/api/reference-controls/" },
  control: { path: LISTS.control, tool: "get_control", argument: "control_id" },
  evidence: { path: LISTS.evidence, tool: "get_evidence", argument: "evidence_id" },
  asset: { path: "/api/assets/" },
  assessment: { path: LISTS.audit },
  risk_assessment: { path: LISTS.riskAssessment },
  risk_scenario: { path: LISTS.risk, tool: "get_risk_scenario", argument: "risk_scenario_id" },
  threat: { path: "/api/threats/" },
};

/** How many hits are read besides. */
const READ = 3;

/** Rights on what the tools show, by what people call them in questions: of each kind, some of which nothing else says. */
const DECIDING = [
  ...["asset", "complianceassessment", "ebiosrmstudy", "entity", "riskassessment", "riskscenario"],
  ...["quantitativeriskstudy", "quantitativeriskscenario", "referencecontrol", "requirementnode", "securityadvisory"],
]
  .map((kind) => `view_${kind}`)
  .concat(["add_asset", "change_asset", "delete_asset", "change_appliedcontrol", "view_compliance_assessment_full"]);

/** Tools about who one is, the tenants and what is found in them. */
export const tenantTruths: readonly Truth<Stage>[] = [
  {
    tool: "whoami",
    cases: [
      {
        about: "says who the platform takes one for, and where one may go",
        as: WORKERS,
        async prove(stage, person) {
          const me = await stage.platform.need(stage.world.emails[person]!, "GET", "/api/iam/current-user/");
          const told = await personOf(stage, person).get<Row>("whoami");
          expect(told).toMatchObject({ id: me.id, email: me.email, actor: { id: me.actor_id } });
          expect(told.administrator).toBe(me.is_admin);
          expect([...((told.roles ?? []) as string[])].sort()).toEqual([...me.roles].sort());
          const tenants = await seenBy(stage, person).tenants();
          const rows = (told.tenants ?? []) as Row[];
          sameIds(rows, tenants);
          for (const row of rows) {
            const folders = [...tenants.find(({ id }) => id === row.id)!.folders.keys()];
            const allowed = new Set(folders.flatMap((id) => me.domain_permissions[id] ?? []));
            for (const capability of (row.capabilities ?? []) as string[]) expect(allowed).toContain(capability);
            const told = (row.capabilities ?? []) as string[];
            for (const right of DECIDING) expect([right, told.includes(right)]).toEqual([right, allowed.has(right)]);
          }
          await holdsNothingHidden(stage, person, JSON.stringify(told));
        },
      },
      {
        about: "who has no role is told so",
        as: ["outsider"],
        async prove(stage, person) {
          const { result } = await personOf(stage, person).ask("whoami");
          expect(result?.tenants ?? []).toEqual([]);
        },
      },
      {
        about: "who has no account is refused",
        as: ["nobody"],
        prove: (stage, person) => refuses(stage, person, "whoami", {}, /no account with your e-mail/),
      },
    ],
  },
  {
    tool: "list_tenants",
    cases: [
      {
        about: "has the topmost folders that one sees, with what lies inside",
        as: WORKERS,
        async prove(stage, person) {
          const tenants = await seenBy(stage, person).tenants();
          const { rows } = await readWhole(stage, person, { tool: "list_tenants", rows: "tenants", pageSize: 1 });
          sameIds(rows, tenants);
          for (const [i, { id, name, folders }] of tenants.entries()) {
            const row = rows[i]!;
            expect(row.name).toBe(name);
            const domains = ((row.domains ?? []) as Row[]).map((one) => one.id);
            expect(domains.sort()).toEqual([...folders.keys()].filter((one) => one !== id).sort());
          }
        },
      },
      {
        about: "has nothing, or refuses, for who has no role or no account",
        as: STRANGERS,
        async prove(stage, person) {
          const { result, refusal } = await personOf(stage, person).ask("list_tenants");
          expect(result === undefined ? refusal : String(result.total_size)).toMatch(result ? /^0$/ : NOWHERE);
        },
      },
      {
        about: "a tenant that was just made is there, and one that was deleted is not",
        as: ["administrator"],
        async prove(stage, person) {
          const admin = stage.world.emails.administrator!;
          const ids = async () =>
            (await everyPage(personOf(stage, person), { tool: "list_tenants", rows: "tenants" })).rows.map((r) => r.id);
          await ids();
          const name = `Fresh ${stage.world.run}`;
          const { id } = await stage.platform.need(admin, "POST", "/api/folders/", { name });
          expect(await ids()).toContain(id);
          await stage.platform.need(admin, "DELETE", `/api/folders/${id}/`);
          expect(await ids()).not.toContain(id);
        },
      },
    ],
  },
  {
    tool: "search_all",
    cases: [
      {
        about: "finds what the platform's search finds in the tenant and above it, in its order, and each is readable",
        as: WORKERS,
        async prove(stage, person) {
          const seen = seenBy(stage, person);
          const tenant = await tenantOf(stage, person);
          for (const [query, types] of [
            [stage.world.run, ["control", "evidence", "risk_scenario"]],
            ["Shared", ["control", "evidence"]],
            ["personal data processing", ["requirement"]],
          ] as const) {
            const type = types.map((one) => TYPES[one]!.path.split("/").at(-2)).join(",");
            const email = stage.world.emails[person]!;
            const direct = await stage.platform.need(email, "GET", "/api/search/", undefined, { q: query, type });
            const isOpen = async (hit: Row) => {
              const row = await seen.read(`/api/${hit.type}/`, hit.id);
              const folder = typeof row?.folder === "string" ? row.folder : idOf(row?.folder);
              return folder === stage.world.ids.root || tenant.folders.has(folder ?? "");
            };
            const open = await Promise.all((direct.results as Row[]).map(isOpen));
            const expected = (direct.results as Row[]).filter((_, at) => open[at]);
            const args = { tenant_id: tenant.id, query, types };
            const told = await personOf(stage, person).get<{ hits?: Row[] }>("search_all", args);
            sameIds(told.hits ?? [], expected);
            await holdsNothingHidden(stage, person, JSON.stringify(told));
            for (const hit of (told.hits ?? []).slice(0, READ)) {
              const { tool, argument } = TYPES[String(hit.type)]!;
              if (tool === undefined) continue;
              for (const id of [hit.id, hit.id.toUpperCase()]) {
                await personOf(stage, person).get(tool, { tenant_id: tenant.id.toUpperCase(), [argument!]: id });
              }
            }
          }
        },
      },
      {
        about: "is refused to who has no role or no account",
        as: STRANGERS,
        prove: (stage, person) => refuses(stage, person, "search_all", { query: "control" }, NOWHERE),
      },
    ],
  },
];
