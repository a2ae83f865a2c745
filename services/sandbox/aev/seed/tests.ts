import { expectationsOf } from "../runs.js";
import { type Contract, DEFAULT_TENANT, type Inject, SECOND_TENANT, type World } from "../world.js";
import type { Draw } from "./draw.js";

const DAY_MS = 86_400_000;
/** How the runs of seeded tests ended; null for one that never ran. */
const ENDS = ["SUCCESS", "ERROR", "PARTIAL", null, "SUCCESS", null] as const;

/** Atomic tests of both tenants: some that ran, one of them on a machine without an agent. */
export function seedTests(world: World, draw: Draw, contracts: readonly Contract[], now: number): void {
  const attacks = contracts.filter(({ technique }) => technique !== undefined);
  for (const [tenant, count] of [
    [DEFAULT_TENANT, ENDS.length],
    [SECOND_TENANT, 2],
  ] as const) {
    const endpoints = [...world.endpoints.values()].filter((endpoint) => endpoint.tenant === tenant);
    for (const [i, end] of ENDS.slice(0, count).entries()) {
      const at = now - (i + 1) * DAY_MS;
      const reached = endpoints.filter(({ agent }) => (agent?.active === true) === (end !== "ERROR"));
      const contract = attacks[i] as Contract;
      const inject: Inject = {
        id: draw.uuid(),
        tenant,
        scenario: null,
        simulation: null,
        title: `Test of ${contract.label}`,
        contract,
        delaySeconds: 0,
        enabled: true,
        teams: [],
        assets: draw.some(
          reached.map(({ id }) => id),
          2,
        ),
        assetGroups: [],
        tags: [],
        status: end === null ? null : { id: draw.uuid(), name: end, sentAt: at, endAt: at + 40_000 },
        expectations: [],
        createdAt: at,
        updatedAt: at,
      };
      if (end === "SUCCESS" || end === "PARTIAL") inject.expectations = expectationsOf(world, inject, at);
      world.injects.set(inject.id, inject);
    }
  }
}
