import { randomUUID } from "node:crypto";
import { type Body, isBlank, objectOf, tagsOf, textOf, textsOf } from "../input.js";
import { Bare, invalid, notFound } from "../replies.js";
import { type Inject, rowsOf, type World } from "../world.js";

// What injects are written with.

/** Whose rights an inject's are; an atomic test's are its own. */
export function parentOf({ scenario, simulation, id }: Inject): string {
  return scenario ?? simulation ?? id;
}

/**
 * The input of a write of an inject.
 *
 * @param isSilent the refusal says no reason.
 * @throws Bare or Refusal 400 where it has no title.
 */
export function titled(body: unknown, isSilent: boolean): Body {
  const input = objectOf(body);
  if (!isBlank(textOf(input, "inject_title") ?? "")) return input;
  throw isSilent ? new Bare(400) : invalid({ inject_title: "must not be blank" });
}

/** An inject made of an input. @throws Refusal 404 for a contract that there is not. */
export function newInject(
  world: World,
  tenant: string,
  of: Pick<Inject, "scenario" | "simulation">,
  input: Body,
  now: number,
): Inject {
  const contract = world.contracts.get(textOf(input, "inject_injector_contract") ?? "");
  if (contract === undefined) throw notFound("Injector contract not found");
  const inject: Inject = {
    ...of,
    id: randomUUID(),
    tenant,
    title: "",
    contract,
    delaySeconds: 0,
    enabled: true,
    teams: [],
    assets: [],
    assetGroups: [],
    tags: [],
    status: null,
    expectations: [],
    createdAt: now,
    updatedAt: now,
  };
  return fill(world, inject, input, now);
}

/** A copy of an inject, which has not run. */
export function copyOfInject(inject: Inject, of: Pick<Inject, "scenario" | "simulation">, now: number): Inject {
  return {
    ...inject,
    ...of,
    id: randomUUID(),
    title: `${inject.title} (duplicate)`,
    status: null,
    triggeredAt: null,
    expectations: [],
    createdAt: now,
    updatedAt: now,
  };
}

/** Takes over every field of an input: what it leaves out becomes empty, and ids of nothing are dropped. */
export function fill(world: World, inject: Inject, input: Body, now: number): Inject {
  const { content = null } = { content: input.inject_content as Record<string, unknown> | null | undefined };
  const ids = (map: ReadonlyMap<string, { readonly id: string }>, key: string) =>
    rowsOf(map, textsOf(input, key)).map(({ id }) => id);
  inject.title = textOf(input, "inject_title") as string;
  inject.contract = world.contracts.get(textOf(input, "inject_injector_contract") ?? "") ?? inject.contract;
  inject.delaySeconds = Number(input.inject_depends_duration ?? inject.delaySeconds);
  inject.enabled = input.inject_enabled !== false;
  inject.teams = ids(world.teams, "inject_teams");
  inject.assets = ids(world.endpoints, "inject_assets");
  inject.assetGroups = ids(world.assetGroups, "inject_asset_groups");
  inject.tags = input.inject_tags == null ? [] : tagsOf(world, inject.tenant, input, "inject_tags");
  inject.details = {
    description: textOf(input, "inject_description"),
    content: content ?? null,
    allTeams: input.inject_all_teams === true,
    country: textOf(input, "inject_country"),
    city: textOf(input, "inject_city"),
    dependsOn: (input.inject_depends_on as unknown[] | undefined) ?? [],
    documents: (input.inject_documents as { document_id: string; document_attached: boolean }[] | undefined) ?? [],
  };
  inject.updatedAt = now;
  return inject;
}
