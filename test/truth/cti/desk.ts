import { setTimeout as sleep } from "node:timers/promises";
import type { Desk } from "./questions.js";
import { sighted } from "./rows/links.js";
import type { Stage } from "./stage.js";

const DAY_MS = 86_400_000;

/** Makes what the questions of an analyst are about: as installations have it, with what is hidden, undated and over. */
export async function makeDesk(stage: Stage): Promise<Desk> {
  const { world } = stage;
  const { run, ids } = world;
  const since = new Date().toISOString();
  const address = `100.80.${Number.parseInt(run.slice(-4, -1), 36) % 250}.9`;
  const seenBy = { m: world.marked("TLP:GREEN").objectMarking };
  await world.observe("Url", { value: `http://${address}/gate.php` });
  await world.observe("Url", { value: `https://cdn.${run}.example/?next=${address}` }, seenBy);
  await world.observe("Url", { value: `http://${address}/secret` }, { m: world.marked("TLP:RED").objectMarking });

  const [group, rival, malware] = [`Desk group ${run}`, `Desk rival ${run}`, `Desk malware ${run}`];
  const [groupId, rivalId] = [
    await world.make("Intrusion-Set", { name: group }),
    await world.make("Intrusion-Set", { name: rival }),
  ];
  const malwareId = await world.make("Malware", { name: malware, confidence: 0 });
  const used = async (type: string, name: string, start?: string, stop?: string, ...markings: string[]) => {
    const to = await world.make(type, { name: `${name} ${run}`, ...world.marked(...markings) });
    const period = { ...(start && { start_time: start }), ...(stop && { stop_time: stop }) };
    await world.relate(groupId, "uses", to, period);
    return to;
  };
  await used("Tool", "Used in winter", "2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z");
  await used("Tool", "Used into March", "2026-01-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z");
  await used("Tool", "Used in April", "2026-04-02T00:00:00.000Z", "2026-04-30T00:00:00.000Z");
  await used("Malware", "Used since the last of May", "2026-05-31T23:59:59.000Z");
  await used("Malware", "Used since June", "2026-06-01T00:00:00.000Z");
  await used("Malware", "Used at no known time");
  await used("Malware", "Used in secret", "2026-04-02T00:00:00.000Z", undefined, "TLP:RED");

  for (const key of ["Attack-Pattern0", "Attack-Pattern1", "Attack-Pattern2", "Attack-Pattern4"])
    await world.relate(groupId, "uses", ids[key]!);
  for (const key of ["Attack-Pattern1", "Attack-Pattern3", "technique"]) await world.relate(rivalId, "uses", ids[key]!);

  for (const [day, ...markings] of [
    ["2026-03-31T23:59:59.000Z"],
    ["2026-04-01T00:00:00.000Z", "TLP:CLEAR"],
    ["2026-05-05T00:00:00.000Z", "TLP:AMBER"],
    ["2026-05-06T00:00:00.000Z", "TLP:RED"],
    ["2026-06-30T12:00:00.000Z", "TLP:GREEN"],
    ["2026-07-01T00:00:00.000Z"],
  ] as const)
    await world.make("Report", {
      name: `Desk report of ${day} ${run}`,
      published: day,
      objects: [malwareId],
      ...world.marked(...markings),
    });

  const seen = (key: string, first?: string, last?: string, more: object = {}) =>
    sighted(stage, malwareId, ids[key]!, {
      ...(first && { first_seen: first }),
      ...(last && { last_seen: last }),
      ...more,
    });
  await seen("Sector0", "2026-05-20T00:00:00.000Z", "2026-05-31T00:00:00.000Z", { attribute_count: 100 });
  await seen("Sector1", "2026-05-30T00:00:00.000Z", "2026-06-02T00:00:00.000Z", { attribute_count: 3 });
  await seen("Country0", "2026-06-10T00:00:00.000Z", "2026-06-10T00:00:00.000Z", { attribute_count: 4 });
  await seen("Country1", "2026-06-11T00:00:00.000Z", "2026-06-12T00:00:00.000Z", { x_opencti_negative: true });
  await seen("Country4", "2026-07-02T00:00:00.000Z", "2026-07-03T00:00:00.000Z", { attribute_count: 50 });
  await seen("Sector4", undefined, undefined, { attribute_count: 500 });

  const now = Date.now();
  const indicator = async (name: string, from: number, until: number, ...markings: string[]) => {
    const id = await world.make("Indicator", {
      name: `Desk ${name} ${run}`,
      pattern: `[domain-name:value = '${name.replaceAll(" ", "-")}.${run}.example']`,
      pattern_type: "stix",
      valid_from: new Date(now + from * DAY_MS).toISOString(),
      valid_until: new Date(now + until * DAY_MS).toISOString(),
      ...world.marked(...markings),
    });
    await world.relate(id, "indicates", malwareId);
  };
  await indicator("runs out soon", -10, 20);
  await indicator("runs out later", -10, 200);
  await indicator("is over", -10, -1);
  await indicator("begins soon", 5, 20);
  await indicator("is hidden", -10, 20, "TLP:RED");

  await makeDays(stage, malwareId);
  return { address, group, rival, malware, colleague: `analyst ${run}`, since };
}

/** What a colleague and others did, until the platform's history has the last of it. */
async function makeDays({ world, platform }: Stage, malwareId: string): Promise<void> {
  const { run } = world;
  const edit = (person: string, id: string, value: string) =>
    platform.need(
      person,
      'mutation($id: ID!, $v: [Any]!) { stixDomainObjectEdit(id: $id) { fieldPatch(input: [{ key: "description", value: $v }]) { id } } }',
      { id, v: [value] },
    );
  const make = async (type: string, name: string, ...markings: string[]): Promise<string> => {
    const input = { name: `${name} by a colleague ${run}`, ...world.marked(...markings) };
    const field = `${type.toLowerCase()}Add`;
    const query = `mutation($i: ${type}AddInput!) { made: ${field}(input: $i) { id } }`;
    return (await platform.need("analyst", query, { i: input })).made.id;
  };
  await edit("writer", malwareId, "somebody's words");
  await edit("analyst", malwareId, "a colleague's words");
  await edit("analyst", await make("Malware", "Made"), "more words");
  await make("Tool", "Made for few", "TLP:AMBER");
  const hidden = await make("Tool", "Hidden since");
  const gone = await make("Tool", "Thrown away");
  await platform.need(
    "root",
    'mutation($id: ID!, $to: StixRef!) { stixCoreObjectEdit(id: $id) { relationAdd(input: { toId: $to, relationship_type: "object-marking" }) { id } } }',
    { id: hidden, to: world.ids["TLP:RED"] },
  );
  await platform.need("analyst", "mutation($id: ID!) { stixCoreObjectEdit(id: $id) { delete } }", { id: gone });
  const query = `{ logs(first: 5, orderBy: timestamp, orderMode: desc, filters: { mode: and, filterGroups: [], filters: [{ key: "event_scope", values: ["delete"] }] }) { edges { node { context_data { entity_id } } } } }`;
  for (let i = 0; i < 60; i++) {
    const { logs } = await platform.need("root", query);
    if (JSON.stringify(logs).includes(gone)) return;
    await sleep(1_000);
  }
  throw new Error("the platform has no history of a deletion");
}
