import type { Row } from "../frame/pages.js";
import { LISTS } from "./seen.js";
import type { Stage } from "./stage.js";

// More that an office has: deadlines and owners, prices, proof that expires,
// vulnerabilities of several assets, and a second audit of one framework. It is
// made once, when it is first asked for.

/** Ids by a name of ours. */
export type Office = Readonly<Record<string, string>> & { readonly cve: string };

export const VULNERABILITIES = "/api/vulnerabilities/";

/** The day that many days from now. */
export const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

const made = new WeakMap<Stage, Promise<Office>>();

/** The office of a stage. */
export function officeOf(stage: Stage): Promise<Office> {
  const office = made.get(stage) ?? makeOffice(stage);
  made.set(stage, office);
  return office;
}

const PLACES = ["alpha", "east", "shop", "beta"];

async function makeOffice({ platform, world }: Stage): Promise<Office> {
  const { ids, run } = world;
  const admin = world.emails.administrator!;
  const cve = `CVE-2031-${String(Date.now()).slice(-7)}`;
  const office: Record<string, string> & { cve: string } = { cve };
  const make = async (key: string, path: string, body: object) => {
    office[key] = (await platform.need(admin, "POST", path, body)).id;
  };
  const patch = (path: string, body: object) => platform.need(admin, "PATCH", path, body);
  for (let i = 0; i < 12; i++) {
    await make(`control${i}`, LISTS.control, {
      name: `Deadline ${i} ${run}`,
      folder: ids[PLACES[i % 4]!],
      status: ["to_do", "active", "in_progress", "deprecated", "degraded", "on_hold"][i % 6],
      ...(i % 5 !== 4 && { eta: day(i % 3 === 2 ? 20 + i : -3 * i - 1) }),
      owner: i % 2 === 0 ? [ids.analystActor] : [ids.managerActor, ids.readerActor],
      ...(i % 4 === 2 && {
        cost: {
          currency: "€",
          amortization_period: 3,
          build: { fixed_cost: 9_000 + i, people_days: 6 },
          run: { fixed_cost: 500, people_days: i },
        },
      }),
    });
    await make(`proof${i}`, LISTS.evidence, {
      name: `Expiring ${i} ${run}`,
      folder: ids[PLACES[i % 4]!],
      status: ["approved", "expired", "draft"][i % 3],
      ...(i % 5 !== 4 && { expiry_date: day(i < 6 ? 5 * i - 12 : 40 + i) }),
      owner: i % 2 === 0 ? [ids.analystActor] : [],
      applied_controls: i % 3 === 0 ? [office[`control${i}`]] : [],
    });
  }
  await make("advisory", "/api/security-advisories/", {
    ref_id: cve,
    name: `${cve} in a library`,
    source: "CVE",
    folder: ids.root,
  });
  const statuses = ["exploitable", "potential", "fixed", "--", "mitigated", "unaffected"];
  for (let i = 0; i < 10; i++) {
    await make(`weak${i}`, VULNERABILITIES, {
      name: i === 3 ? `Old parser, see ${cve} ${run}` : `Weakness ${i} ${run}`,
      folder: ids[PLACES[i % 4]!],
      status: statuses[i % statuses.length],
      severity: (i % 6) - 1,
      assets: [ids[`asset${i % 8}`], ids[`asset${(i + 1) % 8}`]],
      ...(i < 3 && { security_advisories: [office.advisory] }),
      ...(i % 2 === 0 && { due_date: day(i - 5) }),
    });
  }
  for (const i of [0, 1, 2, 4, 5, 6]) {
    await patch(`${LISTS.risk}${ids[`risk${i}`]}/`, { assets: [ids[`asset${i % 4}`], ids.asset1] });
  }
  await make("later", LISTS.audit, {
    name: `shop later ${run}`,
    framework: ids.plain,
    folder: ids.shop,
    version: "2.0",
    status: "in_progress",
  });
  const edit = { auditor: "edit", respondent: "hidden" };
  await patch(`${LISTS.audit}${office.later}/`, { field_visibility: { score: edit, is_scored: edit } });
  const lines = (audit: string): Promise<Row[]> =>
    platform.list(admin, LISTS.requirement, { compliance_assessment: audit, requirement__assessable: true });
  const results = ["compliant", "non_compliant", "partially_compliant", "not_applicable", "not_assessed", "compliant"];
  const [before, after] = [await lines(ids.shown!), await lines(office.later!)];
  for (let i = 0; i < Math.min(12, before.length); i++) {
    const requirement = (before[i]!.requirement as Row).id;
    const other = after.find((one) => (one.requirement as Row).id === requirement)!;
    await patch(`${LISTS.requirement}${before[i]!.id}/`, { result: results[i % 6], is_scored: true, score: i % 3 });
    await patch(`${LISTS.requirement}${other.id}/`, {
      result: results[(i * 5 + 1) % 6],
      is_scored: true,
      score: (i + 1) % 3,
    });
  }
  await patch(`${LISTS.requirement}${before[0]!.id}/`, {
    applied_controls: [office.control2],
    evidences: [office.proof2],
  });
  await patch(`${LISTS.requirement}${before[1]!.id}/`, { applied_controls: [office.control6] });
  return office;
}
