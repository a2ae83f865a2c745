import type { World } from "./world.js";

// One kind after the other, each at every marking, with equal keys and without
// the fields that an object need not have.

/** Kinds of which some are made, and what is said of every other one. */
const MADE: readonly (readonly [type: string, fields: object])[] = [
  ["Campaign", { first_seen: "2026-01-01T00:00:00.000Z", last_seen: "2026-02-01T00:00:00.000Z" }],
  ["Incident", { incident_type: "data-breach", severity: "high" }],
  ["Infrastructure", { infrastructure_types: ["botnet"] }],
  ["Course-Of-Action", {}],
  ["Sector", {}],
  ["Country", {}],
  ["Attack-Pattern", { x_mitre_platforms: ["Windows", "Linux"] }],
];

const LEVELS = [[], ["TLP:GREEN"], ["TLP:AMBER"], ["TLP:RED"], []] as const;

/** The phase that every technique made here is of. */
export const phaseOf = (run: string): string => `phase-${run}`;

/** Makes objects of the kinds that are listed one by one, and the phase of their techniques. */
export async function makeKinds(
  world: World,
  ids: Record<string, string>,
  // biome-ignore lint/suspicious/noExplicitAny: somebody else's JSON, looked at as it is.
  ask: (query: string, variables: object) => Promise<any>,
): Promise<void> {
  const { run } = world;
  const phase = { kill_chain_name: `chain ${run}`, phase_name: phaseOf(run), x_opencti_order: 1 };
  const { made } = await ask("mutation($i: KillChainPhaseAddInput!) { made: killChainPhaseAdd(input: $i) { id } }", {
    i: phase,
  });
  ids.phase = made.id;
  for (const [type, fields] of MADE) {
    for (const [i, level] of LEVELS.entries()) {
      const own = { ...(i % 2 === 0 && fields), ...(type === "Attack-Pattern" && { killChainPhases: [made.id] }) };
      ids[`${type}${i}`] = await world.make(type, {
        name: `${type} ${i} ${run}`,
        description: `about ${run}`,
        ...world.marked(...level),
        ...own,
      });
    }
  }
}
