import { isVisible } from "../rights.js";
import { noRefs, type Thing } from "../thing.js";
import type { Visit } from "../world.js";

/** The arguments that select relationships. */
export interface RelationArgs {
  readonly fromOrToId?: readonly string[] | string | null;
  readonly fromId?: readonly string[] | string | null;
  readonly toId?: readonly string[] | string | null;
  readonly fromTypes?: readonly string[] | null;
  readonly toTypes?: readonly string[] | null;
  readonly elementWithTargetTypes?: readonly string[] | null;
  readonly relationship_type?: readonly string[] | null;
  readonly confidences?: readonly number[] | null;
  readonly startDate?: string | null;
  readonly endDate?: string | null;
}

const listOf = (value: readonly string[] | string | null | undefined): readonly string[] =>
  value === null || value === undefined ? [] : typeof value === "string" ? [value] : value;

/** A test of ends, types and dates; ids are internal ones, as the platform indexes them. An empty list tests nothing. */
export function relationTest(args: RelationArgs, { graph }: Visit): (thing: Thing) => boolean {
  const has = (ids: readonly string[], id: string) => ids.length === 0 || ids.includes(id);
  const isOf = (types: readonly string[], id: string) =>
    types.length === 0 || (graph.get(id)?.types ?? []).some((type) => types.includes(type));
  const any = listOf(args.fromOrToId);
  const fromIds = listOf(args.fromId);
  const toIds = listOf(args.toId);
  const fromTypes = args.fromTypes ?? [];
  const toTypes = args.toTypes ?? [];
  const either = args.elementWithTargetTypes ?? [];
  const types = args.relationship_type ?? [];
  const within = periodTest(args.startDate, args.endDate);
  return (thing) => {
    if (thing.ends === undefined) return false;
    const { from, to, relation } = thing.ends;
    if (!has(fromIds, from) || !has(toIds, to) || !isOf(fromTypes, from) || !isOf(toTypes, to)) return false;
    if (any.length > 0 && !any.includes(from) && !any.includes(to)) return false;
    if (either.length > 0 && !isOf(either, from) && !isOf(either, to)) return false;
    if (types.length > 0 && !types.includes(relation) && !types.some((type) => thing.types.includes(type)))
      return false;
    return within(thing);
  };
}

/** A test of whether an element was created between two times. */
export function periodTest(
  start: string | null | undefined,
  end: string | null | undefined,
): (thing: Thing) => boolean {
  const from = start ? Date.parse(start) : Number.NEGATIVE_INFINITY;
  const until = end ? Date.parse(end) : Number.POSITIVE_INFINITY;
  return (thing) => {
    const at = Date.parse(thing.createdAt);
    return at >= from && at <= until;
  };
}

/** `total` leaves the end of the period out, as the platform's does. */
export function numberOf(things: readonly Thing[], start?: string | null, end?: string | null) {
  const total = things.filter(periodTest(start, undefined)).length;
  return { total, count: things.filter(periodTest(start, end)).length };
}

/** One value of a distribution. */
export interface Bucket {
  readonly label: string;
  readonly value: number;
  readonly entity: Thing | null;
}

interface DistributionArgs {
  readonly field: string;
  readonly limit?: number | null;
  readonly order?: string | null;
}

const REFERENCE_FIELDS: Readonly<Record<string, (thing: Thing) => readonly string[]>> = {
  "object-label.internal_id": ({ refs }) => refs.labels,
  "created-by.internal_id": ({ refs }) => (refs.author === undefined ? [] : [refs.author]),
  "object-marking.internal_id": ({ refs }) => refs.markings,
};

/** Each word with its first letter alone in capitals, as the platform writes values that it counts. */
const pascalized = (text: string): string =>
  text.toLowerCase().replace(/\w+/g, (word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);

/** How many objects have each value of a field; what is not there is one value. */
export function distributionOf(
  things: readonly Thing[],
  args: DistributionArgs,
  { graph, account, draft }: Visit,
): Bucket[] {
  const references = Object.hasOwn(REFERENCE_FIELDS, args.field) ? REFERENCE_FIELDS[args.field] : undefined;
  const counts = new Map<string, number>();
  const add = (label: string) => counts.set(label, (counts.get(label) ?? 0) + 1);
  for (const thing of things) {
    if (references !== undefined) {
      const ids = references(thing);
      for (const id of ids.length === 0 ? ["unknown"] : ids) add(id);
      continue;
    }
    const value =
      args.field === "entity_type"
        ? thing.type
        : args.field === "internal_id"
          ? thing.id
          : Object.hasOwn(thing.attributes, args.field)
            ? thing.attributes[args.field]
            : undefined;
    const values = Array.isArray(value) ? value : [value];
    for (const one of values) {
      if (typeof one === "boolean") add(one ? "1" : "0");
      else if (args.field === "internal_id" || typeof one === "number") add(String(one));
      else add(pascalized(one === undefined || one === null ? "unknown" : String(one)));
    }
  }
  return bucketsOf(counts, args, (label) => {
    if (references === undefined) return null;
    const entity = graph.get(label);
    if (entity === undefined) return null;
    return isVisible(entity, account, draft) ? entity : restricted(entity);
  });
}

/** How many relationships join the given objects to each other object, type or relationship type; `isTo` counts one direction. */
export function relationDistribution(
  things: readonly Thing[],
  args: DistributionArgs & RelationArgs & { readonly isTo?: boolean | null },
  visit: Visit,
): Bucket[] {
  const { graph, account, draft } = visit;
  const given = new Set([...listOf(args.fromOrToId), ...listOf(args.fromId), ...listOf(args.toId)]);
  const counts = new Map<string, number>();
  for (const thing of things) {
    const { from, to, relation } = thing.ends!;
    const sides = args.isTo === true ? [to] : args.isTo === false ? [from] : [from, to];
    const others = sides.filter((id) => !given.has(id));
    for (const id of others) {
      const other = graph.get(id);
      if (other === undefined) continue;
      const label =
        args.field === "entity_type"
          ? other.type
          : args.field === "relationship_type"
            ? relation.charAt(0).toUpperCase() + relation.slice(1)
            : other.id;
      counts.set(label, (counts.get(label) ?? 0) + 1);
    }
  }
  const shown = (thing: Thing) => (isVisible(thing, account, draft) ? thing : restricted(thing));
  return bucketsOf(counts, args, (label) => {
    const entity = args.field === "internal_id" ? graph.get(label) : undefined;
    return entity === undefined ? null : shown(entity);
  });
}

/** What the platform shows of an object that the caller may not see: its id and type all the same. */
function restricted(thing: Thing): Thing {
  const representative = { main: "Restricted", secondary: "Restricted" };
  return { ...thing, attributes: { name: "Restricted", representative }, refs: noRefs() };
}

/** The most values that a distribution has. */
const MOST_BUCKETS = 100;

function bucketsOf(
  counts: ReadonlyMap<string, number>,
  args: DistributionArgs,
  entity: (label: string) => Thing | null,
): Bucket[] {
  const up = args.order === "asc" ? 1 : -1;
  return [...counts]
    .sort(([a, x], [b, y]) => (x - y) * up || (a < b ? -1 : 1))
    .slice(0, Math.min(args.limit ?? 10, MOST_BUCKETS))
    .map(([label, value]) => ({ label, value, entity: entity(label) }));
}

/** Techniques by kill-chain phase: those that are no other's part and not withdrawn, and phases that have some. */
export function matrixOf(visit: Visit) {
  const { graph, account, draft } = visit;
  const visible = [...graph.things.values()].filter((thing) => isVisible(thing, account, draft));
  const parts = new Set(visible.flatMap(({ ends }) => (ends?.relation === "subtechnique-of" ? [ends.from] : [])));
  const techniques = visible.filter(
    ({ id, type, attributes }) => type === "Attack-Pattern" && attributes.revoked !== true && !parts.has(id),
  );
  return visible
    .filter((thing) => thing.type === "Kill-Chain-Phase")
    .map((phase) => ({
      kill_chain_id: phase.id,
      kill_chain_name: phase.attributes.kill_chain_name,
      phase_name: phase.attributes.phase_name,
      x_opencti_order: phase.attributes.x_opencti_order ?? 0,
      attackPatterns: techniques
        .filter(({ refs }) => refs.killChainPhases.includes(phase.id))
        .map(({ id, attributes }) => ({
          attack_pattern_id: id,
          name: attributes.name,
          x_mitre_id: attributes.x_mitre_id ?? null,
        })),
    }))
    .filter(({ attackPatterns }) => attackPatterns.length > 0);
}
