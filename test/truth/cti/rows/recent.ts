import { expect } from "vitest";
import type { Truth } from "../../frame/table.js";
import { holdsNothingHidden, personOf, refuses, type Stage, seenBy } from "../stage.js";
import { READERS } from "../world.js";
import { fresh } from "./changed.js";
import { sightingIdsOf } from "./reading.js";
import { type Acts, actsOf, KINDS, type Log, logsOf, MERGES, time } from "./recent-acts.js";

/** A row of the tool. */
interface Change {
  readonly at: string;
  readonly user?: string;
  readonly act: string;
  readonly object?: { readonly id: string; readonly type: string; readonly name: string };
  readonly fields?: readonly string[];
}

interface Page {
  readonly changes?: readonly Change[];
  readonly next_page_token?: string;
  readonly total_size?: number;
  readonly total_size_is_lower_bound?: boolean;
}

/** Every page of the tool, and what each said of how many there are. */
async function pagesOf(stage: Stage, person: string, args: object, between?: () => Promise<unknown>) {
  const rows: Change[] = [];
  const pages: Page[] = [];
  for (let page_token: string | undefined = ""; page_token !== undefined; ) {
    const page: Page = await personOf(stage, person).get("list_recent_changes", { ...args, page_token });
    await holdsNothingHidden(stage, person, JSON.stringify(page));
    rows.push(...(page.changes ?? []));
    pages.push(page);
    page_token = page.next_page_token;
    if (page_token !== undefined) await between?.();
  }
  return { rows, pages };
}

/** What a row says, where the time is the same moment in any spelling. */
const told = ({ at, user = "", act, object, fields = [] }: Change) => [Date.parse(at), user, act, object?.id, fields];

/** Types whose objects everybody sees. */
const OPEN = ["External-Reference", "Kill-Chain-Phase", "Label", "Marking-Definition", "Vocabulary"];

const isNamed = (sees: ReadonlySet<string>, { event_scope, context_data: { entity_id, entity_type } }: Log): boolean =>
  sees.has(entity_id) || OPEN.includes(entity_type) || event_scope === "delete";

/** What it is to say of an act: of an object that the person does not see, or that went later, neither which it is nor what changed. */
const expectedOf = (sees: ReadonlySet<string>, log: Log) => {
  const { timestamp, user, event_scope, context_data } = log;
  const isSeen = isNamed(sees, log);
  const fields = isSeen ? (context_data.changes ?? []).map(({ field }) => field) : [];
  return [Date.parse(timestamp), user?.name ?? "", event_scope, isSeen ? context_data.entity_id : undefined, fields];
};

/** What the platform counts as containers (its query subTypes). */
const CONTAINERS = [
  ...["Report", "Note", "Grouping", "Opinion", "Observed-Data", "Feedback"],
  ...["Case-Incident", "Case-Rfi", "Case-Rft", "Task"],
];
const changed = (field: string) => (log: Log) =>
  (log.context_data.changes ?? []).some((one) => one.field.toLowerCase() === field.toLowerCase());
const isOf =
  (...types: readonly string[]) =>
  ({ context_data }: Log) =>
    types.includes(context_data.entity_type);
const EVER = "0001-01-01T00:00:00Z";
/** The same moment on a clock five and a half hours ahead. */
const ahead = (at: string) => new Date(Date.parse(at) + 19_800_000).toISOString().replace("Z", "+05:30");

type Asked = readonly [about: string, args: object, holds: (log: Log) => boolean];

/** How the acts of a period are asked for, at the edges too. */
const questionsOf = (stage: Stage, { since, until, observables }: Acts, middle: Log): readonly Asked[] => [
  ["a type", { types: ["Malware"] }, isOf("Malware")],
  ["relationships of a type", { types: ["uses"] }, isOf("uses")],
  ["sightings", { types: ["stix-sighting-relationship"] }, isOf("stix-sighting-relationship")],
  ["types of two kinds", { types: ["uses", "Intrusion-Set"] }, isOf("uses", "Intrusion-Set")],
  ["all observables", { types: ["Stix-Cyber-Observable"] }, isOf(...observables)],
  ["all containers", { types: ["Container"] }, isOf(...CONTAINERS)],
  ["what was made", { acts: ["create"] }, ({ event_scope }) => event_scope === "create"],
  ["what was changed or is gone", { acts: ["delete", "update"] }, (log) => /update|delete/.test(log.event_scope)],
  ["what was merged", { acts: ["merge"] }, ({ event_scope }) => event_scope === "merge"],
  ["a field in any case", { fields: ["dESCRIPTION"] }, changed("Description")],
  [
    "a field by its key",
    { fields: ["description", "objectLabel"] },
    (log) => changed("Description")(log) || changed("Label")(log),
  ],
  [
    "a field of a type",
    { fields: ["Description"], types: ["Malware"] },
    (log) => isOf("Malware")(log) && changed("Description")(log),
  ],
  ["somebody's acts", { user: `writer ${stage.world.run}` }, ({ user }) => user?.name === `writer ${stage.world.run}`],
  ["nobody's acts", { user: "nobody of this name" }, () => false],
  [
    "a field that somebody changed",
    { user: `ANALYST ${stage.world.run}`, fields: ["Description"] },
    (log) => log.user?.name === `analyst ${stage.world.run}` && changed("Description")(log),
  ],
  ["from a moment on", { since: middle.timestamp }, (log) => time(log) >= time(middle)],
  ["until a moment", { until: middle.timestamp }, (log) => time(log) <= time(middle)],
  ["one moment", { since: middle.timestamp, until: middle.timestamp }, (log) => time(log) === time(middle)],
  ["another clock", { since: ahead(since), until: ahead(until) }, (log) => time(log) >= Date.parse(since)],
  ["a day long ago", { since: "1970-01-01", until: "1970-01-02" }, () => false],
  ["the far future", { since: "9999-12-31T23:59:59Z", until: "9999-12-31T23:59:59Z" }, () => false],
];

/** Recent changes, asked for by whatever they can be asked for. */
export const recentTruths: readonly Truth<Stage>[] = [
  {
    tool: "list_recent_changes",
    cases: [
      {
        about: "by type, act, field, person and period has what all acts leave that one looks through",
        as: READERS,
        async prove(stage, person) {
          const acts = await actsOf(stage);
          const until = (log: Log) => time(log) <= Date.parse(acts.until);
          const all = (await logsOf(stage, person, acts.since)).filter(until);
          const sees = new Set(
            [...(await seenBy(stage, person).objects()), ...(await seenBy(stage, person).relationships())].map(
              ({ id }) => id,
            ),
          );
          for (const id of await sightingIdsOf(stage, person)) sees.add(id);
          const ever = (await logsOf(stage, person, EVER, `${KINDS}, ${MERGES}`)).filter(until);
          const merged: Asked = ["merged at any time", { acts: ["merge"], since: EVER }, () => true];
          const asked = questionsOf(stage, acts, all.at(3)!).map((one) => [all, ...one] as const);
          for (const [from, about, args, holds] of [...asked, [ever, ...merged] as const]) {
            const meant = from
              .filter((log) => holds(log) && (!("fields" in args) || isNamed(sees, log)))
              .map((log) => expectedOf(sees, log));
            const { rows, pages } = await pagesOf(stage, person, {
              since: acts.since,
              until: acts.until,
              ...args,
              page_size: 100,
            });
            expect([about, rows.map(told)]).toEqual([about, meant]);
            expect([about, pages.at(-1)!.total_size ?? 0]).toEqual([about, meant.length]);
            expect([about, pages.at(-1)!.total_size_is_lower_bound ?? false]).toEqual([about, false]);
          }
        },
      },
      {
        about: "by field comes in small pages whose number never shrinks, and repeats nothing while others write",
        as: ["administrator", "reader"],
        async prove(stage, person) {
          const { since } = await actsOf(stage);
          const args = { since, types: ["Malware"], fields: ["Description"], page_size: 1 };
          const whole = await pagesOf(stage, person, { ...args, page_size: 100 });
          const write = () => stage.world.make("Malware", { name: fresh(stage, "Meanwhile"), confidence: 0 });
          const { rows, pages } = await pagesOf(stage, person, args, write);
          expect(rows.length).toBeGreaterThan(1);
          expect(rows.map(told)).toEqual(whole.rows.map(told));
          const totals = pages.map(({ total_size = 0 }) => total_size);
          expect(totals).toEqual(totals.toSorted((a, b) => a - b));
          expect(totals.at(-1)).toBe(rows.length);
        },
      },
      {
        about: "refuses what no act can have, and a page of another question",
        as: ["analyst", "reader"],
        async prove(stage, person) {
          const ask = (args: object, words: RegExp) => refuses(stage, person, "list_recent_changes", args, words);
          await ask({ types: ["Malwares"] }, /types: Malwares is not/);
          await ask({ types: ["malware"] }, /did you mean Malware/);
          await ask({ types: ["*"] }, /types: \* is not/);
          await ask({ acts: ["changed"] }, /acts/);
          await ask({ fields: ["no such field"] }, /fields: no such field/);
          await ask(
            { since: "2026-02-02T00:00:00Z", until: "2026-02-01T00:00:00Z" },
            /until: must not be before since/,
          );
          const { next_page_token } = await personOf(stage, person).get<Page>("list_recent_changes", { page_size: 1 });
          await ask({ page_token: next_page_token, acts: ["create"], page_size: 1 }, /page_token/);
        },
      },
    ],
  },
];
