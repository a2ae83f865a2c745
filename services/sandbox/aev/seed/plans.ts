import { chance, expectationsOf } from "../runs.js";
import type { Contract, Inject, Scenario, Simulation, World } from "../world.js";
import { rowsOf } from "../world.js";
import type { Draw } from "./draw.js";
import { CATEGORIES, FINDING_VALUES, FOCUSES, SCENARIO_SITES, SCENARIO_SUBJECTS } from "./words.js";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

interface Seed {
  readonly world: World;
  readonly draw: Draw;
  readonly contracts: readonly Contract[];
  readonly tenant: string;
  readonly now: number;
}

/** Scenarios with their injects, two finished simulations of each, and what those found. */
export function seedPlans(
  world: World,
  draw: Draw,
  contracts: readonly Contract[],
  tenant: string,
  count: number,
  now: number,
): void {
  const seed = { world, draw, contracts, tenant, now };
  for (let i = 0; i < count; i++) {
    const scenario = seedScenario(seed, i);
    for (let run = 0; run < 2; run++) seedSimulation(seed, scenario, run);
  }
}

function seedScenario({ world, draw, contracts, tenant, now }: Seed, index: number): Scenario {
  const idsOf = (map: ReadonlyMap<string, { id: string; tenant: string }>) =>
    [...map.values()].filter((row) => row.tenant === tenant).map(({ id }) => id);
  const subject = SCENARIO_SUBJECTS[index % SCENARIO_SUBJECTS.length] as string;
  const site = SCENARIO_SITES[Math.floor(index / SCENARIO_SUBJECTS.length) % SCENARIO_SITES.length] as string;
  const createdAt = now - (30 + draw.below(60)) * DAY_MS;
  const [team = ""] = draw.some(idsOf(world.teams), 1);
  const users = world.teams.get(team)?.users.slice(0, 3) ?? [];
  const scenario: Scenario = {
    id: draw.uuid(),
    tenant,
    name: `${subject}, ${site}`,
    description: `${subject} against ${site}: prevention, detection and response.`,
    subtitle: null,
    category: draw.pick(CATEGORIES),
    mainFocus: draw.pick(FOCUSES),
    severity: draw.pick(["low", "medium", "high", "critical"]),
    externalReference: index % 4 === 0 ? `EX-${index}` : null,
    externalUrl: null,
    recurrence: index % 10 === 9 ? "0 0 9 * * MON" : null,
    header: null,
    footer: "SIMULATION FOOTER",
    mailFromName: "no-reply",
    replyTo: ["contact@sallyport.example"],
    customDashboard: null,
    tags: draw.some(idsOf(world.tags), 1 + draw.below(3)),
    teams: [team],
    teamUsers: users.map((user) => ({ team, user })),
    injects: [],
    simulations: [],
    createdAt,
    updatedAt: createdAt + draw.below(20 * DAY_MS),
  };
  world.scenarios.set(scenario.id, scenario);
  const builtIn = contracts.filter((contract) => contract.technique === undefined);
  const attacks = contracts.filter((contract) => contract.technique !== undefined);
  for (let i = 0; i < 6 + draw.below(4); i++) {
    const contract = i === 0 ? (builtIn[0] as Contract) : draw.pick(i % 4 === 3 ? builtIn : attacks);
    const attack = contract.technique !== undefined;
    const inject: Inject = {
      id: draw.uuid(),
      tenant,
      scenario: scenario.id,
      simulation: null,
      title: attack ? contract.label : `${contract.label}: step ${i + 1}`,
      contract,
      delaySeconds: i * 300,
      enabled: draw.below(10) !== 0 || i === 0,
      teams: attack ? [] : [team],
      assets: attack ? draw.some(idsOf(world.endpoints), 2) : [],
      assetGroups: attack && draw.below(3) === 0 ? draw.some(idsOf(world.assetGroups), 1) : [],
      tags: [],
      status: null,
      expectations: [],
      createdAt,
      updatedAt: createdAt,
    };
    world.injects.set(inject.id, inject);
    scenario.injects.push(inject.id);
  }
  return scenario;
}

function seedSimulation({ world, draw, tenant, now }: Seed, scenario: Scenario, run: number): void {
  const start = Math.floor((now - (2 + run * 7 + draw.below(5)) * DAY_MS) / MINUTE_MS) * MINUTE_MS;
  const canceled = draw.below(8) === 0;
  const simulation: Simulation = {
    id: draw.uuid(),
    tenant,
    scenario: scenario.id,
    name: scenario.name,
    description: scenario.description,
    category: scenario.category,
    mainFocus: scenario.mainFocus,
    severity: scenario.severity,
    status: canceled ? "CANCELED" : "FINISHED",
    start,
    end: start + 3_600_000,
    pausedAt: null,
    pausedMs: 0,
    replyTo: [...scenario.replyTo],
    tags: [...scenario.tags],
    teams: [...scenario.teams],
    teamUsers: [...scenario.teamUsers],
    injects: [],
    deletions: 0,
    createdAt: start,
    updatedAt: start + 3_600_000,
  };
  world.simulations.set(simulation.id, simulation);
  scenario.simulations.push(simulation.id);
  for (const [i, planned] of rowsOf(world.injects, scenario.injects).entries()) {
    const due = start + planned.delaySeconds * 1_000;
    const ran = planned.enabled && (!canceled || i < 2);
    const inject: Inject = {
      ...planned,
      id: draw.uuid(),
      scenario: null,
      simulation: simulation.id,
      createdAt: start,
      updatedAt: due,
      status: ran
        ? {
            id: draw.uuid(),
            name: chance(planned.id, 12) === 0 ? "PARTIAL" : "SUCCESS",
            sentAt: due,
            endAt: due + 40_000,
          }
        : null,
    };
    if (ran) inject.expectations = expectationsOf(world, inject, due);
    world.injects.set(inject.id, inject);
    simulation.injects.push(inject.id);
    if (ran && inject.contract.technique !== undefined) seedFindings(world, draw, tenant, inject, due);
  }
}

function seedFindings(world: World, draw: Draw, tenant: string, inject: Inject, at: number): void {
  for (let i = 0; i < draw.below(3); i++) {
    const id = draw.uuid();
    const [type, values] = draw.pick(FINDING_VALUES);
    const one = draw.some(inject.assets, 1);
    // Half of the later ones are on other endpoints too, which a search shows in part.
    const assets = i === 1 && chance(id, 2) === 0 ? [...inject.assets] : one;
    const createdAt = at + 60_000 + i * 1_000;
    world.findings.set(id, {
      id,
      tenant,
      type,
      field: "stdout",
      value: draw.pick(values),
      inject: inject.id,
      labels: [],
      assets,
      createdAt,
      updatedAt: createdAt,
    });
  }
}
