import { expect } from "vitest";
import { everyPage, type Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import type { Node } from "../platform.js";
import { labelsOf, markingsOf } from "../seen.js";
import { personOf, readWhole, refuses, type Stage, seenBy } from "../stage.js";
import { OUTSIDE, READERS, type World } from "../world.js";

const DOMAIN = (node: Node) => node.observable_value === undefined;

/** How a list is asked, and which of all that somebody sees it is to hold. */
export interface Question {
  /** Who may ask it; all who may read where left out. */
  readonly as?: readonly string[];
  readonly args: (world: World) => object;
  readonly holds: (node: Node, world: World) => boolean;
  /** The order that the rows come in, where the question asks for one. */
  readonly order?: (a: Node, b: Node) => number;
}

/** A list, and how it is asked. */
export interface List {
  readonly tool: string;
  readonly rows: string;
  readonly questions: readonly Question[];
  readonly row?: (row: Row, node: Node) => void;
  /** Makes what its questions ask about. */
  readonly prepare?: (stage: Stage) => Promise<unknown>;
  /** Makes one more that the first question holds. */
  readonly another: (world: World, i: number) => Promise<string>;
}

const named = (node: Node, text: string) => String(node.representative.main).toLowerCase().includes(text.toLowerCase());
/** Of some types, and of this run. */
export const ofType =
  (...types: readonly string[]) =>
  (node: Node, { run }: World) =>
    types.includes(node.entity_type) && named(node, run);
const time = (value: unknown) => Date.parse(String(value));
/** The newest first. */
export const newest = (a: Node, b: Node) => time(b.created_at) - time(a.created_at);

/** Proves the fields that every row has. */
export const summary = (row: Row, node: Node) => {
  if (row.type !== undefined) expect(row.type).toBe(node.entity_type);
  expect(row.name).toBe(node.representative.main);
  expect([...((row.markings ?? []) as string[])].sort()).toEqual(markingsOf(node));
  expect([...((row.labels ?? []) as string[])].sort()).toEqual(labelsOf(node));
};

const malware = (world: World, i: number) =>
  world.make("Malware", { name: `Malware more ${i} ${Date.now()} ${world.run}` });

const LISTS: readonly List[] = [
  {
    tool: "search_all",
    rows: "objects",
    questions: [
      { args: ({ run }) => ({ query: run, types: ["Malware"] }), holds: ofType("Malware") },
      {
        args: ({ run }) => ({ query: run, types: ["Malware"], order: "newest" }),
        holds: ofType("Malware"),
        order: newest,
      },
      {
        args: (world) => ({ query: partOfAddress(world).slice(3) }),
        holds: (node, world) => named(node, partOfAddress(world).slice(3)),
      },
      { args: ({ run }) => ({ query: `c2-0.${run}` }), holds: (node, { run }) => named(node, `c2-0.${run}`) },
      {
        args: ({ run }) => ({ query: run, types: ["Malware"], filter: { labels: [`label ${run}`] } }),
        holds: (node, world) => ofType("Malware")(node, world) && labelsOf(node).length > 0,
      },
      {
        args: ({ run }) => ({ query: run, filter: { author: `Author ${run}`, min_confidence: 60 } }),
        holds: (node, { run }) => node.createdBy?.name === `Author ${run}` && node.confidence >= 60,
      },
    ],
    row: summary,
    another: malware,
  },
  {
    tool: "search_entities",
    rows: "entities",
    questions: [
      { args: ({ run }) => ({ query: run, types: ["Malware"] }), holds: ofType("Malware") },
      {
        args: ({ run }) => ({ query: run, types: ["Malware", "Tool", "Intrusion-Set"], order: "oldest" }),
        // The platform does not begin a word at a colon.
        holds: (node, world) => ofType("Malware", "Tool", "Intrusion-Set")(node, world) && node.id !== world.ids.colons,
        order: (a, b) => newest(b, a),
      },
      {
        args: ({ run }) => ({ query: `slowly-${run}`, types: ["Malware"] }),
        holds: (node, world) =>
          ofType("Malware")(node, world) && node.representative.secondary?.includes(`slowly ${world.run}`),
      },
      {
        args: ({ run }) => ({ query: `"Malware 1 ${run}"`, types: ["Malware"] }),
        holds: (node, { run }) => named(node, `Malware 1 ${run}`),
      },
      {
        as: READERS.filter((person) => person !== "granted"),
        args: ({ run }) => ({ query: run, types: ["Malware"], filter: { markings: ["TLP:GREEN"] } }),
        holds: (node, world) => ofType("Malware")(node, world) && markingsOf(node).includes("TLP:GREEN"),
      },
    ],
    row: summary,
    another: malware,
  },
  {
    tool: "list_threat_actors",
    rows: "threat_actors",
    questions: [
      { args: ({ run }) => ({ query: run }), holds: ofType("Threat-Actor-Group", "Threat-Actor-Individual") },
      {
        args: ({ run }) => ({ query: run, order: "newest" }),
        holds: ofType("Threat-Actor-Group", "Threat-Actor-Individual"),
        order: newest,
      },
    ],
    row(row, node) {
      summary(row, node);
      expect(row.aliases ?? []).toEqual(node.aliases ?? []);
    },
    another: (world, i) => world.make("Threat-Actor-Group", { name: `Actor more ${i} ${Date.now()} ${world.run}` }),
  },
  {
    tool: "list_observables",
    rows: "observables",
    questions: [
      {
        args: ({ run }) => ({ query: run }),
        holds: (node, { run }) =>
          !DOMAIN(node) &&
          (named(node, run) ||
            node.hashes?.some(({ hash }: { hash: string }) => hash.includes(run)) ||
            node.file_name?.includes(run)),
      },
      {
        args: (world) => ({ query: partOfAddress(world), types: ["IPv4-Addr"] }),
        holds: (node, world) => node.entity_type === "IPv4-Addr" && named(node, partOfAddress(world)),
      },
      {
        args: ({ run }) => ({ query: `${run}.exam` }),
        holds: (node, { run }) => !DOMAIN(node) && named(node, `${run}.exam`),
      },
      {
        args: (world) => ({ query: partOfHash(world) }),
        holds: (node, world) =>
          node.hashes?.some(({ hash }: { hash: string }) => hash.includes(partOfHash(world))) === true,
      },
      {
        args: (world) => ({ query: partOfAddress(world), types: ["IPv4-Addr"], min_score: 50, order: "newest" }),
        holds: (node, world) =>
          node.entity_type === "IPv4-Addr" && named(node, partOfAddress(world)) && node.x_opencti_score >= 50,
        order: newest,
      },
    ],
    row(row, node) {
      expect(row.type).toBe(node.entity_type);
      expect(row.value).toBe(node.observable_value);
      expect(row.score ?? null).toBe(node.x_opencti_score);
    },
    another: (world, i) => world.observe("Domain-Name", { value: `more-${i}-${Date.now()}.${world.run}.example` }),
  },
  {
    tool: "list_indicators",
    rows: "indicators",
    questions: [
      { args: ({ run }) => ({ query: run }), holds: ofType("Indicator") },
      {
        args: ({ run }) => ({ query: run, valid_only: true }),
        holds: (node, world) =>
          ofType("Indicator")(node, world) &&
          !node.revoked &&
          time(node.valid_from) <= Date.now() &&
          time(node.valid_until) > Date.now(),
      },
      {
        args: ({ run }) => ({ query: run, pattern_type: "sigma" }),
        holds: (node, world) => ofType("Indicator")(node, world) && node.pattern_type === "sigma",
      },
      {
        args: ({ run }) => ({ query: `only.${run}` }),
        holds: (node, { run }) => String(node.pattern ?? "").includes(`only.${run}`),
      },
    ],
    row(row, node) {
      expect(row.name).toBe(node.representative.main);
      expect(row.revoked ?? false).toBe(node.revoked);
      expect(row.score ?? null).toBe(node.x_opencti_score);
    },
    another: (world, i) =>
      world.make("Indicator", {
        name: `Indicator more ${i} ${Date.now()} ${world.run}`,
        pattern: `[domain-name:value = 'm${i}-${Date.now()}.example']`,
        pattern_type: "stix",
      }),
  },
  {
    tool: "list_reports",
    rows: "reports",
    questions: [
      {
        args: ({ run }) => ({ query: run }),
        holds: ofType("Report"),
        order: (a, b) => time(b.published) - time(a.published),
      },
      {
        args: ({ run }) => ({ query: run, report_type: "threat-report" }),
        holds: (node, world) => ofType("Report")(node, world) && node.report_types?.includes("threat-report"),
      },
      {
        args: ({ run }) => ({ query: run, published_after: "2026-02-03", published_before: "2026-03-03T00:00:00Z" }),
        holds: (node, world) =>
          ofType("Report")(node, world) &&
          time(node.published) >= time("2026-02-03") &&
          time(node.published) <= time("2026-03-03"),
      },
      {
        args: ({ run, ids }) => ({ query: run, object_id: ids.malware0 }),
        holds: (node, { ids }) => [ids.report0, ids.report1].includes(node.id),
      },
    ],
    row(row, node) {
      expect(row.name).toBe(node.representative.main);
      expect(row.report_types ?? []).toEqual(node.report_types ?? []);
      expect(time(row.published)).toBe(time(node.published));
    },
    another: (world, i) =>
      world.make("Report", {
        name: `Report more ${i} ${Date.now()} ${world.run}`,
        published: "2026-03-03T00:00:00.000Z",
      }),
  },
];

const partOfAddress = (world: World) => addressOf(world).split(".").slice(0, 3).join(".");
const addressOf = (world: World) => (world as unknown as { address(i: number): string }).address(0);
const partOfHash = (world: World) =>
  (world as unknown as { hash(i: number, n: number): string }).hash(1, 32).slice(3, 20);

async function ask(stage: Stage, list: List, person: string, question: Question, pageSize: number) {
  await list.prepare?.(stage);
  const seen = (await seenBy(stage, person).objects()).filter((node) => question.holds(node, stage.world));
  return { expected: seen, reading: { tool: list.tool, rows: list.rows, args: question.args(stage.world), pageSize } };
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id).sort();

/** Tools that list by words. */
export const listTruths: readonly Truth<Stage>[] = LISTS.map(truthOf);

/** What is to be true of a list: all that one sees, over all pages, and nothing else. */
export function truthOf(list: List): Truth<Stage> {
  return {
    tool: list.tool,
    cases: [
      ...list.questions.map((question, i) => ({
        about: `has what the platform shows this person, over all pages (question ${i + 1})`,
        as: question.as ?? READERS,
        async prove(stage: Stage, person: string) {
          const { expected, reading } = await ask(stage, list, person, question, 4);
          const { rows } = await readWhole(stage, person, reading);
          expect(idsOf(rows)).toEqual(idsOf(expected));
          const byId = new Map(expected.map((node) => [node.id, node]));
          for (const row of rows) list.row?.(row, byId.get(row.id)!);
          if (question.order === undefined) return;
          const keys = rows.map((row) => byId.get(row.id)!);
          for (let at = 1; at < keys.length; at++)
            expect(question.order(keys[at - 1]!, keys[at]!)).toBeLessThanOrEqual(0);
        },
      })),
      {
        about: "loses and repeats nothing while others write",
        as: ["administrator", "reader"],
        async prove(stage: Stage, person: string) {
          const { expected, reading } = await ask(stage, list, person, list.questions[0]!, 3);
          const between = async (page: number) => {
            if (page < 3) await list.another(stage.world, page);
          };
          const { rows, repeated } = await everyPage(personOf(stage, person), { ...reading, between });
          expect(repeated).toEqual([]);
          const known = new Set(expected.map(({ id }) => id));
          expect(idsOf(rows.filter(({ id }) => known.has(id)))).toEqual(idsOf(expected));
        },
      },
      {
        about: "is refused to who may not read",
        as: OUTSIDE,
        prove: (stage: Stage, person: string) =>
          refuses(stage, person, list.tool, list.questions[0]!.args(stage.world)),
      },
    ],
  };
}
