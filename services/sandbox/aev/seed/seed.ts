import { DEFAULT_TENANT, emptyWorld, SECOND_TENANT, type World } from "../world.js";
import { seedCatalogue } from "./catalogue.js";
import { seedContent } from "./content.js";
import { createDraw } from "./draw.js";
import { seedEdges } from "./edges.js";
import { seedEntries } from "./entries.js";
import { seedPlans } from "./plans.js";
import { seedPayloads, seedTests } from "./tests.js";
import { seedDriller, seedMember, seedOperator, seedUsers } from "./users.js";

/** Fills a world with a few thousand linked objects; the same ones, but for their dates. */
export function seedWorld(now: number): World {
  const world = emptyWorld();
  const draw = createDraw(20_260_101);
  world.tenants.set(DEFAULT_TENANT, {
    id: DEFAULT_TENANT,
    name: "Security operations",
    description: "The group's own security team",
  });
  world.tenants.set(SECOND_TENANT, { id: SECOND_TENANT, name: "Subsidiary", description: "The subsidiary's team" });
  const contracts = seedCatalogue(world, draw, now);
  seedPlans(world, draw, contracts, DEFAULT_TENANT, 60, now);
  seedPlans(world, draw, contracts, SECOND_TENANT, 8, now);
  seedUsers(world, draw, now);
  seedEntries(world, draw, now);
  seedMember(world);
  seedEdges(world, draw, now);
  seedContent(world, draw, now);
  seedDriller(world, draw, now);
  seedTests(world, draw, contracts, now);
  seedPayloads(world, draw, now);
  seedOperator(world, draw, now);
  return world;
}
