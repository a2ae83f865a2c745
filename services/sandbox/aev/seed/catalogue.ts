import { type Contract, DEFAULT_TENANT, type Phase, SECOND_TENANT, type World } from "../world.js";
import type { Draw } from "./draw.js";
import { ROLES, SITES, TACTICS, TAGS, TEAMS, TECHNIQUES } from "./words.js";

const DAY_MS = 86_400_000;
const PLATFORM_OF_ROLE: Readonly<Record<string, string>> = { dc: "Windows", wks: "Windows", file: "Windows" };

/**
 * Techniques, tags, teams, endpoints and asset groups.
 *
 * @returns the contracts that injects are made of.
 */
export function seedCatalogue(world: World, draw: Draw, now: number): Contract[] {
  const contracts = [...builtIn(now), ...seedTechniques(world, draw, now)];
  for (const contract of contracts) world.contracts.set(contract.id, contract);
  for (const tenant of [DEFAULT_TENANT, SECOND_TENANT]) {
    for (const name of TAGS) {
      const id = draw.uuid();
      const color = `#${draw.below(0x1000000).toString(16).padStart(6, "0")}`;
      world.tags.set(id, { id, tenant, name, color });
    }
    for (const name of TEAMS) {
      const id = draw.uuid();
      const users = Array.from({ length: 5 }, () => draw.uuid());
      const rest = { description: null, organization: null, contextual: false, tags: [], updatedAt: now - 90 * DAY_MS };
      world.teams.set(id, { id, tenant, name, users, ...rest });
    }
    seedAssets(world, draw, tenant, tenant === DEFAULT_TENANT ? 4 : 1, now);
  }
  return contracts;
}

/** Contracts that every installation has, with their fixed ids. */
function builtIn(now: number): Contract[] {
  const make = (id: string, injector: string, type: Contract["type"], label: string, labelFr: string): Contract => ({
    id,
    injector,
    type,
    label,
    labelFr,
    platforms: [type === "openaev_email" ? "Service" : "Internal"],
    technique: undefined,
    createdAt: now - 100 * DAY_MS,
  });
  return [
    make(
      "138ad8f8-32f8-4a22-8114-aaa12322bd09",
      "41b4dd55-5bd1-4614-98cd-9e3770753306",
      "openaev_email",
      "Send individual mails",
      "Envoyer des mails individuels",
    ),
    make(
      "d02e9132-b9d0-4daa-b3b1-4b9871f8472c",
      "6981a39d-e219-4016-a235-cf7747994abc",
      "openaev_manual",
      "Manual",
      "Manuel",
    ),
    make(
      "fb5e49a2-6366-4492-b69a-f9b9f39a533e",
      "8d932e36-353c-48fa-ba6f-86cb7b02ed19",
      "openaev_channel",
      "Publish a media pressure",
      "Publier de la pression médiatique",
    ),
  ];
}

function seedTechniques(world: World, draw: Draw, now: number): Contract[] {
  const phases = new Map<string, Phase>();
  for (const [externalId, shortname, name, order] of TACTICS) {
    phases.set(externalId, { id: draw.uuid(), externalId, shortname, name, order });
  }
  const ids = new Map(TECHNIQUES.map(([externalId]) => [externalId, draw.uuid()]));
  return TECHNIQUES.map(([externalId, name, tactic, systems]) => {
    const phase = phases.get(tactic) as Phase;
    const parent = externalId.includes(".") ? ids.get(externalId.split(".", 1)[0] as string) : undefined;
    const technique = {
      id: ids.get(externalId) as string,
      externalId,
      name,
      description: `Adversaries may use ${name} for ${phase.name.toLowerCase()}.`,
      platforms: systems.split(" "),
      phase,
      parent,
      createdAt: now - 100 * DAY_MS,
    };
    world.techniques.set(technique.id, technique);
    return {
      id: draw.uuid(),
      injector: "49229430-b5b5-431f-ba5b-f36f599b0144",
      type: "openaev_implant" as const,
      label: name,
      labelFr: name,
      platforms: technique.platforms,
      technique,
      createdAt: now - 100 * DAY_MS,
    };
  });
}

function seedAssets(world: World, draw: Draw, tenant: string, perRole: number, now: number): void {
  const tags = [...world.tags.values()].filter((tag) => tag.tenant === tenant).map(({ id }) => id);
  for (const [s, site] of SITES.entries()) {
    const here: string[] = [];
    for (const [r, role] of ROLES.entries()) {
      for (let n = 1; n <= perRole; n++) {
        const id = draw.uuid();
        const name = `${role}-${site}-${String(n).padStart(2, "0")}`;
        world.endpoints.set(id, {
          id,
          tenant,
          name,
          description: tenant === DEFAULT_TENANT ? `The ${role} machine ${n} in ${site}` : null,
          hostname: `${name}.corp.example`,
          platform: PLATFORM_OF_ROLE[role] ?? "Linux",
          arch: draw.below(5) === 0 ? "arm64" : "x86_64",
          ips: [`10.${s + 10}.${r}.${n}`],
          macs: [`020000${[s, r, n].map((part) => part.toString(16).padStart(2, "0")).join("")}`],
          createdAt: now - 80 * DAY_MS,
          updatedAt: now - 80 * DAY_MS,
          tags: draw.some(tags, draw.below(3)),
          agent:
            draw.below(5) === 0
              ? undefined
              : { id: draw.uuid(), active: draw.below(8) !== 0, lastSeen: now - draw.below(3_600_000) },
        });
        here.push(id);
      }
    }
    const id = draw.uuid();
    world.assetGroups.set(id, {
      id,
      tenant,
      name: `Machines in ${site}`,
      description: null,
      dynamicFilter: { mode: "and", filters: [] },
      assets: here,
      tags: [],
      createdAt: now - 80 * DAY_MS,
      updatedAt: now - 80 * DAY_MS,
    });
  }
}
