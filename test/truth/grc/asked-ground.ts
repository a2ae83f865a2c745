import { day, officeOf, VULNERABILITIES } from "./office.js";
import { LISTS } from "./seen.js";
import type { Stage } from "./stage.js";

// What the twelve jobs of asked.md need beside an office: owners of risks, controls
// that are planned and in place, exceptions, and proof of requirements of two audits.

const EXCEPTIONS = "/api/security-exceptions/";

const made = new WeakMap<Stage, Promise<{ readonly edr: string }>>();

/** The ground of the jobs in a stage, made when it is first asked for. */
export function groundOf(stage: Stage): Promise<{ readonly edr: string }> {
  const ground = made.get(stage) ?? makeGround(stage);
  made.set(stage, ground);
  return ground;
}

async function makeGround(stage: Stage): Promise<{ readonly edr: string }> {
  const { platform, world } = stage;
  const office = await officeOf(stage);
  const { ids, run } = world;
  const admin = world.emails.administrator!;
  const post = async (path: string, body: object): Promise<string> =>
    (await platform.need(admin, "POST", path, body)).id;
  const patch = (path: string, body: object) => platform.need(admin, "PATCH", path, body);
  // One risk waits for controls, one has all of them, one has none, and one shares its owners.
  const plans: readonly (readonly [string, object])[] = [
    ["risk0", { owner: [ids.analystActor], applied_controls: [office.control0, office.control1, ids.control0] }],
    ["risk8", { owner: [], applied_controls: [office.control1, office.control5], treatment: "mitigate" }],
    ["risk10", { owner: [ids.managerActor, ids.readerActor], applied_controls: [] }],
    ["risk1", { owner: [], existing_applied_controls: [office.control8] }],
  ];
  for (const [risk, body] of plans) await patch(`${LISTS.risk}${ids[risk]}/`, body);
  const exception = await post(EXCEPTIONS, {
    name: `Tolerated ${run}`,
    folder: ids.alpha,
    status: "approved",
    expiration_date: day(30),
  });
  for (const [i, body] of [
    { severity: 4, status: "exploitable", security_exceptions: [exception] },
    { severity: 3, status: "potential", applied_controls: [office.control0] },
    { severity: 4, status: "--" },
    { severity: 4, status: "fixed" },
  ].entries()) {
    await post(VULNERABILITIES, {
      name: `Severe ${i} ${run}`,
      folder: i === 1 ? ids.east : ids.alpha,
      detected_at: day(-20 - i),
      due_date: day(i === 1 ? -3 : 10),
      assets: [ids.asset0],
      ...body,
    });
  }
  const lines = await platform.list(admin, LISTS.requirement, {
    compliance_assessment: office.later!,
    requirement__assessable: true,
  });
  for (const line of lines.slice(0, 3)) {
    await patch(`${LISTS.requirement}${line.id}/`, { evidences: [office.proof2, office.proof6] });
  }
  const edr = await post(LISTS.control, { name: `EDR roll-out ${run}`, folder: ids.alpha, status: "to_do" });
  return { edr };
}
