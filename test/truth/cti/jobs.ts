import { expect } from "vitest";
import type { Person } from "../frame/product.js";
import type { Transcript } from "../frame/transcript.js";

// What an analyst comes for, from the question to what is written up, with the
// tools of one server alone and just the rights that they need.

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
  /** Words in what is looked for among vulnerabilities; all of them where empty. */
  readonly flaws: string;
  readonly minCvss: number;
}

// biome-ignore lint/suspicious/noExplicitAny: what a model reads, looked at as it is.
type Answer = any;

/** What a job made that is looked at from outside. */
interface Made {
  readonly caseId?: string;
}

/** Triages an indicator and writes it up, as somebody who may write. */
async function triage(job: Transcript, ground: Ground): Promise<Made> {
  const { value, indicatorId, malwareId, placeId, run } = ground;
  const looked = await job.get<Answer>("lookup_ioc", { value: value.replaceAll(".", "[.]") });
  expect(looked).toMatchObject({ value, known: true, indicators: [{ id: indicatorId }] });
  expect(looked.matches ?? []).toEqual([]);
  const read = await job.get<Answer>("get_indicator", { indicator_id: indicatorId });
  expect(read.indicator.pattern).toContain(value);
  const around = await job.get<Answer>("list_entity_relationships", { object_id: indicatorId });
  expect(around.relationships).toMatchObject([{ type: "indicates", other: { id: malwareId } }]);

  const { observable } = await job.get<Answer>("create_observable", { type: "Domain-Name", value, score: 80 });
  const types = await job.get<Answer>("list_relationship_types", { from_type: "Indicator", to_type: "Domain-Name" });
  expect(types.rules.map(({ type }: { type: string }) => type)).toContain("based-on");
  const { relationship } = await job.get<Answer>("create_relationship", {
    from_id: indicatorId,
    to_id: observable.id,
    relationship_type: "based-on",
  });
  const { sighting } = await job.get<Answer>("create_sighting", {
    from_id: indicatorId,
    to_id: placeId,
    count: 3,
    first_seen: "2026-11-20T08:00:00Z",
    last_seen: "2026-11-21T17:30:00Z",
    description: "Three clients asked for the name.",
  });
  await job.get<Answer>("update_indicator", { indicator_id: indicatorId, description: "Seen in our own traffic." });
  const report = await job.get<Answer>("create_report", {
    name: `Triage of ${value} ${run}`,
    published: "2026-11-22T12:00:00Z",
    description: "What the indicator is of, and where it was seen.",
    object_ids: [indicatorId, observable.id, malwareId, relationship.id, around.relationships[0].id],
  });
  const reportId = report.result.object.id;
  await job.get<Answer>("create_note", {
    object_ids: [reportId, indicatorId],
    abstract: `Triaged ${value}`,
    content: "Blocked at the proxy; the three clients are being looked at.",
  });

  const again = await job.get<Answer>("lookup_ioc", { value });
  expect(again.matches).toMatchObject([{ id: observable.id, indicators: [{ id: indicatorId }] }]);
  expect(again.matches[0].containers.map(({ id }: { id: string }) => id)).toContain(reportId);
  const held = await job.get<Answer>("list_container_objects", { container_id: reportId });
  expect(held.total_size).toBe(5);
  const seen = await job.get<Answer>("list_sightings", { from_id: indicatorId });
  expect(seen.sightings).toMatchObject([{ id: sighting.id, count: 3 }]);
  return {};
}

/** Profiles an actor with its techniques and tools, as somebody who may only read. */
async function profile(job: Transcript, { actor }: Ground): Promise<Made> {
  const found = await job.get<Answer>("find_entity_by_name", { name: actor });
  expect(found.exact).toBe(true);
  const object_id = found.entities[0].id;
  const { object } = await job.get<Answer>("get_entity", { object_id });
  expect(object.name).toBe(actor);
  const numbers = await job.get<Answer>("get_entity_statistics", { object_id });
  expect(numbers.relationships).toBeGreaterThan(3);
  const { ttps, total_size } = await job.get<Answer>("list_entity_ttps", { object_id });
  expect(total_size).toBeGreaterThan(0);
  const { phases } = await job.get<Answer>("get_attack_matrix", { kill_chain_phase: ttps[0].kill_chain_phases[0] });
  expect(phases[0].techniques.length).toBeGreaterThan(0);
  const means = await job.get<Answer>("list_entity_relationships", {
    object_id,
    relationship_types: ["uses"],
    other_types: ["Malware", "Tool"],
  });
  expect(means.relationships.map(({ other }: { other: { type: string } }) => other.type)).toEqual(
    expect.arrayContaining(["Malware", "Tool"]),
  );
  await job.get<Answer>("get_top_related_entities", { object_id, types: ["Malware", "Tool"], limit: 5 });
  await job.get<Answer>("get_relationship_timeseries", { object_id, interval: "quarter", start: "2026-01-01" });
  await job.get<Answer>("list_entity_indicators", { object_id: means.relationships[0].other.id, valid_only: true });
  await job.get<Answer>("list_reports", { object_id });
  return {};
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Collects exploited CVEs with CVSS and KEV into a case with priority and tasks, as somebody who may write. */
async function collectExploited(job: Transcript, { flaws: query, minCvss, run }: Ground): Promise<Made> {
  const narrow = query === "" ? {} : { query };
  const { vulnerabilities } = await job.get<Answer>("list_vulnerabilities", {
    ...narrow,
    kev_only: true,
    min_cvss: minCvss,
    page_size: 5,
  });
  expect(vulnerabilities.length).toBeGreaterThan(0);
  for (const one of vulnerabilities) {
    expect(one.kev).toBe(true);
    expect(one.cvss_score).toBeGreaterThanOrEqual(minCvss);
  }
  const worst = vulnerabilities[0] as Named;
  const { known, vulnerability } = await job.get<Answer>("lookup_vulnerability", { name: worst.name });
  expect([known, vulnerability.id]).toEqual([true, worst.id]);
  const { words } = await job.get<Answer>("list_vocabulary_values", { vocabulary: "case_priority_ov" });
  const [priority] = words as Named[];

  const ids = vulnerabilities.map(({ id }: Named) => id);
  const names = vulnerabilities.map(({ name }: Named) => name).join(", ");
  const { result, object_count } = await job.get<Answer>("create_case_incident", {
    name: `Exploited vulnerabilities ${run}`,
    description: `Known to be exploited, CVSS ${minCvss} and above: ${names}.`,
    severity: "critical",
    priority: priority!.name,
    object_ids: ids,
    refs: { markings: ["TLP:GREEN"] },
  });
  expect([result.notices ?? [], object_count]).toEqual([[], ids.length]);
  const case_id = result.object.id as string;
  const tasks: string[] = [];
  for (const [name, due_date] of [
    ["Find where they are open", "2026-11-23"],
    ["Patch what is open", "2026-11-30"],
  ]) {
    const task = await job.get<Answer>("create_task", { case_id, name, due_date, description: `Of ${names}.` });
    expect(task.result.object.markings).toEqual(["TLP:GREEN"]);
    tasks.push(task.result.object.id);
  }
  const reference = { source_name: "CISA", url: `https://www.cisa.gov/known-exploited-vulnerabilities-catalog#${run}` };
  expect(
    (await job.get<Answer>("add_external_reference", { object_id: case_id, ...reference })).reference.source_name,
  ).toBe("CISA");
  await job.get<Answer>("update_container", { container_id: tasks[0], description: "Found on two gateways." });

  const read = await job.get<Answer>("get_case", { case_id });
  expect(read.container).toMatchObject({ severity: "critical", priority: priority!.name, object_count: ids.length });
  expect(read.tasks.map(({ id }: Named) => id).sort()).toEqual([...tasks].sort());
  const member = await job.get<Answer>("check_container_membership", { container_id: case_id, object_ids: ids });
  expect((member.held as Named[]).length).toBe(ids.length);
  const holding = await job.get<Answer>("list_entity_containers", { object_id: worst.id, types: ["Case-Incident"] });
  expect(holding.containers.map(({ id }: Named) => id)).toContain(case_id);
  return { caseId: case_id };
}

/** The jobs: who does them at the built-in platform and at the real one is somebody with just the rights. */
export const JOBS: readonly {
  readonly title: string;
  readonly as: "writer" | "reader";
  readonly run: (job: Transcript, ground: Ground) => Promise<Made>;
}[] = [
  { title: "Triage an indicator and write it up", as: "writer", run: triage },
  { title: "Profile an actor with its techniques and tools", as: "reader", run: profile },
  { title: "Collect exploited CVEs into a case with priority and tasks", as: "writer", run: collectExploited },
];

/** Makes what the jobs are done on, as somebody who may write; all of it may be seen by everybody. */
export async function makeGround(
  maker: Person,
  run: string,
  sought: Pick<Ground, "flaws" | "minCvss">,
): Promise<Ground> {
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
  return { run, value, indicatorId, malwareId, placeId, actor, ...sought };
}
