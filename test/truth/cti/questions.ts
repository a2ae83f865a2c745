import { allOf, type Question } from "../frame/questions.js";
import type { Transcript } from "../frame/transcript.js";
import type { Node } from "./platform.js";
import { idsOf } from "./rows/reading.js";
import { markingsOf } from "./seen.js";
import { type Stage, seenBy } from "./stage.js";

// Eight questions in the words of an analyst, written before anybody had looked
// at the tools: each is answered by the tools alone, and from all that the
// platform shows that person.

/** What the questions are about, by the names that an analyst knows. */
export interface Desk {
  /** An address that no observable is, and that is in a URL. */
  readonly address: string;
  readonly group: string;
  readonly rival: string;
  readonly malware: string;
  /** Part of the name of a colleague. */
  readonly colleague: string;
  /** When the week began in which the colleague worked. */
  readonly since: string;
}

// biome-ignore lint/suspicious/noExplicitAny: what a model reads, looked at as it is.
type Row = any;

const DAY_MS = 86_400_000;
const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort();

/** The id of something by its name. */
async function idNamed(job: Transcript, name: string, ...types: string[]): Promise<string> {
  const { exact, entities } = await job.get<Row>("find_entity_by_name", { name, types });
  if (!exact) throw new Error(`${name} is not found`);
  return entities[0].id;
}

const named = (nodes: readonly Node[], name: string): Node => nodes.find((one) => one.representative.main === name)!;

interface Act {
  readonly timestamp: string;
  readonly event_scope: string;
  readonly user: { readonly name: string };
  readonly context_data: {
    readonly entity_id: string;
    readonly entity_type: string;
    readonly entity_name: string;
    readonly changes: readonly { readonly field: string }[] | null;
  };
}

/** All acts since a time that the platform's history shows a person. */
async function actsOf({ platform }: Stage, person: string, since: string): Promise<Act[]> {
  const query = `query($v: [Any!]!) { logs(first: 1000, orderBy: timestamp, orderMode: desc, filters: { mode: and, filterGroups: [], filters: [{ key: "timestamp", values: $v, operator: gte }] }) {
    edges { node { timestamp event_scope user { name } context_data { entity_id entity_type entity_name changes { field } } } } } }`;
  const { logs } = await platform.need(person, query, { v: [since] });
  return logs.edges.map(({ node }: { node: Act }) => node);
}

/** A list of the platform that has no order by the time of creation. */
async function techniquesOf(stage: Stage, person: string, group: string): Promise<string[]> {
  const seen = seenBy(stage, person);
  const objects = await seen.objects();
  const known = new Map(objects.map((one) => [one.id, one]));
  const { id } = named(objects, group);
  const used = (await seen.relationships()).filter((one) => one.fromId === id && one.relationship_type === "uses");
  return used.map(({ toId }) => toId).filter((to) => known.get(to)?.entity_type === "Attack-Pattern");
}

/** The eight questions of an analyst. */
export const questionsOf = (desk: Desk): readonly Question<Stage>[] => [
  {
    words: "A customer sends me the address of a server. Do we know it from anywhere, even as a part of something?",
    as: "reader",
    async ask(job, dead) {
      const { known, contained_in = [] } = await job.get<Row>("lookup_ioc", { value: desk.address });
      if (known || contained_in.length === 0) dead();
      return sorted(contained_in.map(({ name }: Row) => name));
    },
    async answer(stage) {
      const values = (await seenBy(stage, "reader").objects()).map((one) => String(one.observable_value ?? ""));
      return sorted(values.filter((value) => value.includes(desk.address)));
    },
  },
  {
    words: "Whose descriptions of malware were rewritten this week, and by whom?",
    as: "analyst",
    async ask(job) {
      const args = { since: desk.since, types: ["Malware"], fields: ["description"] };
      const rows = await allOf<Row>(job, "list_recent_changes", "changes", args);
      return rows.map(({ object, user }) => [object?.name, user]);
    },
    async answer(stage) {
      const seen = new Map((await seenBy(stage, "analyst").objects()).map((one) => [one.id, one.representative.main]));
      return (await actsOf(stage, "analyst", desk.since))
        .filter(
          ({ context_data: { entity_type, entity_id, changes } }) =>
            entity_type === "Malware" && seen.has(entity_id) && changes?.some(({ field }) => field === "Description"),
        )
        .map(({ context_data, user }) => [seen.get(context_data.entity_id), user.name]);
    },
  },
  {
    words: "The new colleague worked alone yesterday. What has that person touched, and what was deleted?",
    as: "writer",
    async ask(job) {
      const args = { since: desk.since, user: desk.colleague };
      const rows = await allOf<Row>(job, "list_recent_changes", "changes", args);
      const of = (is: (act: string) => boolean) =>
        sorted(rows.filter(({ act }) => is(act)).map(({ object }) => object?.name ?? "(hidden)"));
      return { touched: of((act) => act !== "delete"), deleted: of((act) => act === "delete") };
    },
    async answer(stage) {
      const seen = new Map((await seenBy(stage, "writer").objects()).map((one) => [one.id, one.representative.main]));
      const acts = (await actsOf(stage, "writer", desk.since)).filter(({ user }) => user.name.includes(desk.colleague));
      const name = ({ context_data: { entity_id, entity_name }, event_scope }: Act): string =>
        event_scope === "delete" ? entity_name : (seen.get(entity_id) ?? "(hidden)");
      return {
        touched: sorted(acts.filter(({ event_scope }) => event_scope !== "delete").map(name)),
        deleted: sorted(acts.filter(({ event_scope }) => event_scope === "delete").map(name)),
      };
    },
  },
  {
    words: "What did the group use in the spring, from March to May, and since when each?",
    as: "reader",
    async ask(job) {
      const from_id = await idNamed(job, desk.group, "Intrusion-Set");
      const args = { from_id, relationship_types: ["uses"], started_before: "2026-05-31T23:59:59.999Z" };
      const rows = await allOf<Row>(job, "list_relationships", "relationships", args);
      return rows
        .filter(({ to, stop_time }) => to && (!stop_time || Date.parse(stop_time) >= Date.parse("2026-03-01")))
        .map(({ to, start_time }) => `${to.name} since ${start_time.slice(0, 10)}`)
        .toSorted();
    },
    async answer(stage) {
      const query = `{ r: stixCoreRelationships(first: 5000, relationship_type: "uses") { edges { node { fromId start_time stop_time to { ... on StixCoreObject { representative { main } } } } } } }`;
      const { r } = await stage.platform.need("reader", query);
      const { id } = named(await seenBy(stage, "reader").objects(), desk.group);
      return (r.edges as { node: Row }[])
        .map(({ node }) => node)
        .filter(
          ({ fromId, start_time, stop_time, to }) =>
            fromId === id &&
            to?.representative !== undefined &&
            start_time > "1970-01-02" &&
            start_time < "2026-06-01" &&
            stop_time >= "2026-03-01",
        )
        .map(({ to, start_time }) => `${to.representative.main} since ${start_time.slice(0, 10)}`)
        .toSorted();
    },
  },
  {
    words: "Which techniques do the two groups have in common, and which does only the first one use?",
    as: "analyst",
    async ask(job) {
      const of = async (name: string) => {
        const object_id = await idNamed(job, name, "Intrusion-Set");
        return (await allOf<Row>(job, "list_entity_ttps", "ttps", { object_id })).map(({ id }) => id);
      };
      const [own, other] = [await of(desk.group), await of(desk.rival)];
      return {
        both: sorted(own.filter((id) => other.includes(id))),
        only: sorted(own.filter((id) => !other.includes(id))),
      };
    },
    async answer(stage) {
      const [own, other] = [
        await techniquesOf(stage, "analyst", desk.group),
        await techniquesOf(stage, "analyst", desk.rival),
      ];
      return {
        both: sorted(own.filter((id) => other.includes(id))),
        only: sorted(own.filter((id) => !other.includes(id))),
      };
    },
  },
  {
    words:
      "Which reports of the second quarter are about this malware, and which of them may I pass on (TLP:GREEN or clear)?",
    as: "analyst",
    async ask(job) {
      const object_id = await idNamed(job, desk.malware, "Malware");
      const period = { published_after: "2026-04-01", published_before: "2026-06-30T23:59:59.999Z" };
      const rows = await allOf<Row>(job, "list_reports", "reports", { object_id, ...period });
      const free = rows.filter(({ markings = [] }) => !markings.some((one: string) => /AMBER|RED/.test(one)));
      return { all: rows.map(({ name }) => name), free: free.map(({ name }) => name) };
    },
    async answer(stage) {
      const seen = seenBy(stage, "analyst");
      const objects = await seen.objects();
      const { id } = named(objects, desk.malware);
      const reports = objects
        .filter(
          ({ entity_type, published }) =>
            entity_type === "Report" && published >= "2026-04-01" && published < "2026-07-01",
        )
        .toSorted((a, b) => (a.published < b.published ? 1 : -1));
      const about: Node[] = [];
      for (const report of reports)
        if ((await seen.contents(report.id))?.some((one) => one.id === id)) about.push(report);
      const free = about.filter((one) => !markingsOf(one).some((marking) => /AMBER|RED/.test(marking)));
      const names = (nodes: readonly Node[]) => nodes.map((one) => one.representative.main);
      return { all: names(about), free: names(free) };
    },
  },
  {
    words: "How often was this malware seen in June, and where?",
    as: "reader",
    async ask(job) {
      const from_id = await idNamed(job, desk.malware, "Malware");
      const rows = await allOf<Row>(job, "list_sightings", "sightings", { from_id, seen_after: "2026-06-01" });
      const june = rows.filter(({ first_seen, negative }) => !negative && (!first_seen || first_seen < "2026-07-01"));
      return {
        times: june.reduce((sum: number, { count }) => sum + count, 0),
        places: sorted(june.map(({ to }) => to?.name ?? "(hidden)")),
      };
    },
    async answer(stage) {
      const { id } = named(await seenBy(stage, "reader").objects(), desk.malware);
      const fields =
        "id fromId first_seen last_seen attribute_count x_opencti_negative to { ... on StixCoreObject { representative { main } } }";
      const june = (await stage.platform.list("reader", "stixSightingRelationships", fields)).filter(
        ({ fromId, first_seen, last_seen, x_opencti_negative }) =>
          fromId === id &&
          !x_opencti_negative &&
          last_seen >= "2026-06-01" &&
          last_seen < "5000" &&
          first_seen < "2026-07-01",
      );
      return {
        times: june.reduce((sum, one) => sum + one.attribute_count, 0),
        places: sorted(june.map(({ to }) => to?.representative?.main ?? "(hidden)")),
      };
    },
  },
  {
    words: "Which of our valid indicators for this malware run out within thirty days, so that somebody has to look?",
    as: "reader",
    async ask(job) {
      const object_id = await idNamed(job, desk.malware, "Malware");
      const args = { object_id, valid_only: true };
      const rows = await allOf<Row>(job, "list_entity_indicators", "indicators", args);
      const limit = Date.now() + 30 * DAY_MS;
      return idsOf(rows.filter(({ valid_until }) => valid_until && Date.parse(valid_until) <= limit));
    },
    async answer(stage) {
      const seen = seenBy(stage, "reader");
      const objects = await seen.objects();
      const { id } = named(objects, desk.malware);
      const from = new Set(
        (await seen.relationships())
          .filter((one) => one.toId === id && one.relationship_type === "indicates")
          .map(({ fromId }) => fromId),
      );
      const limit = Date.now() + 30 * DAY_MS;
      return idsOf(
        objects.filter((one) => {
          const [begin, end] = [Date.parse(one.valid_from), Date.parse(one.valid_until)];
          return from.has(one.id) && !one.revoked && begin <= Date.now() && end > Date.now() && end <= limit;
        }),
      );
    },
  },
];
