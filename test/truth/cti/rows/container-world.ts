import type { Stage } from "../stage.js";

const LEVELS = [[], ["TLP:GREEN"], ["TLP:AMBER"], ["TLP:CLEAR"], ["TLP:RED"]] as const;

const made = new WeakMap<Stage, Promise<void>>();

/** Makes cases with tasks, groupings and vulnerabilities of every marking, once; their ids are among the world's. */
export function makeContainers(stage: Stage): Promise<void> {
  const before = made.get(stage) ?? make(stage);
  made.set(stage, before);
  return before;
}

async function make({ world }: Stage): Promise<void> {
  const { run } = world;
  const ids = world.ids as Record<string, string>;
  const level = (i: number) => world.marked(...(LEVELS[i % LEVELS.length] ?? []));
  const severities = ["low", "high", "critical"];
  for (const [i, type] of ["Case-Incident", "Case-Rfi", "Case-Rft", "Case-Incident", "Case-Incident"].entries())
    ids[`case${i}`] = await world.make(type, {
      name: `Case ${i} ${run}`,
      description: `About case ${i}`,
      severity: severities[i % severities.length],
      ...(i !== 1 && { priority: "P1" }),
      objects: [ids.malware0, ids.malware4, ids.set0],
      ...level(i),
    });
  for (let i = 0; i < 7; i++)
    ids[`task${i}`] = await world.make("Task", {
      name: `Task ${i} ${run}`,
      objects: [ids[i < 5 ? "case0" : "case3"]],
      ...(i !== 2 && { due_date: "2026-12-01T00:00:00.000Z" }),
      ...level(i),
    });
  for (let i = 0; i < 5; i++)
    await world.make("Grouping", {
      name: `Group ${i} ${run}`,
      context: i % 2 === 0 ? "malware-analysis" : "suspicious-activity",
      objects: [ids.malware0],
      ...level(i),
    });
  for (let i = 0; i < 8; i++)
    ids[`flaw${i}`] = await world.make("Vulnerability", {
      name: `CVE-2031-${i}${run}`,
      description: `A flaw ${run}`,
      ...(i < 6 && { x_opencti_cvss_base_score: i % 2 === 0 ? 9.8 : 5, x_opencti_epss_score: 0.25 * (i % 4) }),
      ...(i !== 7 && { x_opencti_cisa_kev: i % 3 === 0 }),
      ...level(i),
    });
  for (const key of ["malware0", "malware4"]) await world.relate(ids[key]!, "exploits", ids.flaw0!);
  await world.relate(ids.set0!, "targets", ids.flaw0!);
}
