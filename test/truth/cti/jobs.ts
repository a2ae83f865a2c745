import { expect } from "vitest";
import type { Person } from "../frame/product.js";
import { Transcript } from "../frame/transcript.js";

// What an analyst comes for, from the question to what is written up, with the
// tools of one server alone.

// biome-ignore lint/suspicious/noExplicitAny: what a model reads, looked at as it is.
type Json = any;

/** What the jobs are done on; made beforehand by somebody else. */
export interface Ground {
  /** Where it was made: a word in every name. */
  readonly run: string;
  /** A value that an indicator alone names, which points to a malware; and where it was seen. */
  readonly value: string;
  readonly indicatorId: string;
  readonly malwareId: string;
  readonly placeId: string;
  /** The name of an intrusion set that uses techniques, malware and tools. */
  readonly actor: string;
}

/** Triages an indicator and writes it up, as somebody who may write. */
export async function triage(person: Person, ground: Ground): Promise<Transcript> {
  const job = new Transcript("Triage an indicator and write it up", person);
  const { value, indicatorId, malwareId, placeId, run } = ground;
  const looked = await job.get<Json>("lookup_ioc", { value: value.replaceAll(".", "[.]") });
  expect(looked).toMatchObject({ value, known: true, indicators: [{ id: indicatorId }] });
  expect(looked.matches ?? []).toEqual([]);
  const read = await job.get<Json>("get_indicator", { indicator_id: indicatorId });
  expect(read.indicator.pattern).toContain(value);
  const around = await job.get<Json>("get_entity_relationships", { object_id: indicatorId });
  expect(around.relationships).toMatchObject([{ type: "indicates", other: { id: malwareId } }]);

  const { observable } = await job.get<Json>("create_observable", { type: "Domain-Name", value, score: 80 });
  const types = await job.get<Json>("list_relationship_types", { from_type: "Indicator", to_type: "Domain-Name" });
  expect(types.rules.map(({ type }: { type: string }) => type)).toContain("based-on");
  const { relationship } = await job.get<Json>("create_relationship", {
    from_id: indicatorId,
    to_id: observable.id,
    relationship_type: "based-on",
  });
  const { sighting } = await job.get<Json>("create_sighting", {
    from_id: indicatorId,
    to_id: placeId,
    count: 3,
    first_seen: "2026-11-20T08:00:00Z",
    last_seen: "2026-11-21T17:30:00Z",
    description: "Three clients asked for the name.",
  });
  await job.get<Json>("update_indicator", { indicator_id: indicatorId, description: "Seen in our own traffic." });
  const report = await job.get<Json>("create_report", {
    name: `Triage of ${value} ${run}`,
    published: "2026-11-22T12:00:00Z",
    description: "What the indicator is of, and where it was seen.",
    object_ids: [indicatorId, observable.id, malwareId, relationship.id, around.relationships[0].id],
  });
  const reportId = report.result.object.id;
  await job.get<Json>("create_note", {
    object_ids: [reportId, indicatorId],
    abstract: `Triaged ${value}`,
    content: "Blocked at the proxy; the three clients are being looked at.",
  });

  const again = await job.get<Json>("lookup_ioc", { value });
  expect(again.matches).toMatchObject([{ id: observable.id, indicators: [{ id: indicatorId }] }]);
  expect(again.matches[0].containers.map(({ id }: { id: string }) => id)).toContain(reportId);
  const held = await job.get<Json>("list_container_objects", { container_id: reportId });
  expect(held.total_size).toBe(5);
  const seen = await job.get<Json>("list_sightings", { from_id: indicatorId });
  expect(seen.sightings).toMatchObject([{ id: sighting.id, count: 3 }]);
  return job;
}

/** Profiles an actor with its techniques and tools, as somebody who may only read. */
export async function profile(person: Person, { actor }: Ground): Promise<Transcript> {
  const job = new Transcript("Profile an actor with its techniques and tools", person);
  const found = await job.get<Json>("find_entity_by_name", { name: actor });
  expect(found.exact).toBe(true);
  const object_id = found.entities[0].id;
  const { object } = await job.get<Json>("get_entity", { object_id });
  expect(object.name).toBe(actor);
  const numbers = await job.get<Json>("get_entity_statistics", { object_id });
  expect(numbers.relationships).toBeGreaterThan(3);
  const { ttps, total_size } = await job.get<Json>("get_entity_ttps", { object_id });
  expect(total_size).toBeGreaterThan(0);
  const { phases } = await job.get<Json>("get_attack_matrix", { kill_chain_phase: ttps[0].kill_chain_phases[0] });
  expect(phases[0].techniques.length).toBeGreaterThan(0);
  const means = await job.get<Json>("get_entity_relationships", {
    object_id,
    relationship_types: ["uses"],
    other_types: ["Malware", "Tool"],
  });
  expect(means.relationships.map(({ other }: { other: { type: string } }) => other.type)).toEqual(
    expect.arrayContaining(["Malware", "Tool"]),
  );
  await job.get<Json>("get_top_related_entities", { object_id, types: ["Malware", "Tool"], limit: 5 });
  await job.get<Json>("get_relationship_timeseries", { object_id, interval: "quarter", start: "2026-01-01" });
  await job.get<Json>("get_entity_indicators", { object_id: means.relationships[0].other.id, valid_only: true });
  await job.get<Json>("list_reports", { object_id });
  return job;
}

/** Makes what the jobs are done on, as somebody who may write; all of it may be seen by everybody. */
export async function makeGround(maker: Person, run: string): Promise<Ground> {
  const make = async (tool: string, args: object, member: string): Promise<string> => {
    const { result, refusal } = await maker.ask(tool, args);
    expect([tool, refusal]).toEqual([tool, ""]);
    const made = result?.[member] as { id?: string; object?: { id: string } };
    return made.id ?? made.object?.id ?? "";
  };
  const refs = { confidence: 10 };
  const entity = (type: string, name: string) =>
    make("create_entity", { type, name: `${name} ${run}`, refs }, "result");
  const value = `beacon.${run}.example`;
  const indicatorId = await make(
    "create_indicator",
    { name: value, pattern: `[domain-name:value = '${value}']`, main_observable_type: "Domain-Name", score: 70, refs },
    "indicator",
  );
  const malwareId = await entity("Malware", "Beacon");
  const placeId = await entity("System", "Proxy");
  const actor = `Group of ${run}`;
  const actorId = await make("create_entity", { type: "Intrusion-Set", name: actor, refs }, "result");
  const tool = await entity("Tool", "Remote shell");
  const relate = (from_id: string, relationship_type: string, to_id: string, start_time: string) =>
    make("create_relationship", { from_id, to_id, relationship_type, start_time, refs }, "relationship");
  await relate(indicatorId, "indicates", malwareId, "2026-02-01T00:00:00Z");
  await relate(actorId, "uses", malwareId, "2026-02-01T00:00:00Z");
  await relate(actorId, "uses", tool, "2026-05-01T00:00:00Z");
  const { result } = await maker.ask("list_attack_patterns", { page_size: 20 });
  const rows = (result?.attack_patterns ?? []) as { id: string; kill_chain_phases?: string[]; markings?: string[] }[];
  const techniques = rows.filter(
    (one) => (one.kill_chain_phases ?? []).length > 0 && (one.markings ?? []).length === 0,
  );
  expect(techniques.length).toBeGreaterThan(1);
  for (const { id } of techniques.slice(0, 3)) await relate(actorId, "uses", id, "2026-08-01T00:00:00Z");
  return { run, value, indicatorId, malwareId, placeId, actor };
}
