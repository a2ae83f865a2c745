import type { Endpoint, Inject, Scenario, Technique, World } from "../world.js";
import type { Draw } from "./draw.js";

const DAY_MS = 86_400_000;

/** Machines that were set up from one image and never renamed. */
const TWINS = 20;
const TWIN = { name: "golden-image", hostname: "golden-image", description: null, agent: undefined };
/** Scenarios whose names the platform reads otherwise than people do. */
const NAMES = ["True", "false", "Plan_A 100% manual", "PlanXA 100 manual", "İstanbul office"] as const;

/**
 * What is rare and makes platforms stumble: rows that no sort tells apart,
 * names with wildcards in them or of words for truth values, and a scenario
 * that was never labelled. They are of the default tenant.
 */
export function seedEdges(world: World, draw: Draw, now: number): void {
  const [endpoint] = [...world.endpoints.values()] as [Endpoint];
  for (let i = 0; i < TWINS; i++) {
    const id = draw.uuid();
    const macs = [`020000ff00${(i + 16).toString(16)}`];
    world.endpoints.set(id, { ...endpoint, id, ...TWIN, macs });
  }
  // ATT&CK has techniques of one name, too.
  const parents = [...world.techniques.values()].filter(({ parent }) => parent === undefined).slice(0, 6);
  for (const parent of parents as readonly Technique[]) {
    const id = draw.uuid();
    const externalId = `${parent.externalId}.099`;
    const description = `${"Adversaries may use an account of the domain. ".repeat(6)}See ${externalId}.`;
    world.techniques.set(id, { ...parent, id, externalId, name: "Domain Account", description, parent: parent.id });
  }
  const [like] = [...world.scenarios.values()] as [Scenario];
  for (const [at, name] of NAMES.entries()) {
    const createdAt = now - (100 + at) * DAY_MS;
    const scenario: Scenario = {
      ...like,
      id: draw.uuid(),
      name,
      category: at === 0 ? "true" : like.category,
      description: null,
      tags: [],
      teams: [],
      teamUsers: [],
      injects: [],
      simulations: [],
      createdAt,
      updatedAt: createdAt,
    };
    world.scenarios.set(scenario.id, scenario);
    if (at > 0) continue;
    const [step] = like.injects.map((id) => world.injects.get(id)) as [Inject];
    for (let i = 0; i < TWINS; i++) {
      const id = draw.uuid();
      const of = {
        scenario: scenario.id,
        teams: [],
        title: "Call the desk",
        delaySeconds: 600,
        updatedAt: createdAt + i,
      };
      world.injects.set(id, { ...step, ...of, id });
      scenario.injects.push(id);
    }
  }
}
