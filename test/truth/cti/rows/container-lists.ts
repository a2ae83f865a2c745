import { expect } from "vitest";
import type { Truth } from "../../frame/table.js";
import type { Node } from "../platform.js";
import { labelsOf, markingsOf } from "../seen.js";
import type { Stage } from "../stage.js";
import { makeContainers } from "./container-world.js";
import { type List, newest, ofType, truthOf } from "./lists.js";

type Row = Parameters<NonNullable<List["row"]>>[0];

const marks = (row: Row, node: Node) => {
  expect(row.name).toBe(node.representative.main);
  expect([...((row.markings ?? []) as string[])].sort()).toEqual(markingsOf(node));
  expect([...((row.labels ?? []) as string[])].sort()).toEqual(labelsOf(node));
};

const CASES = ofType("Case-Incident", "Case-Rfi", "Case-Rft");

const LISTS: readonly List[] = [
  {
    tool: "list_containers",
    rows: "containers",
    prepare: makeContainers,
    questions: [
      {
        args: ({ run }) => ({ query: run, types: ["Report", "Grouping", "Case-Rfi"] }),
        holds: ofType("Report", "Grouping", "Case-Rfi"),
      },
      {
        args: ({ run }) => ({ query: run, types: ["Report", "Task"], order: "newest" }),
        holds: ofType("Report", "Task"),
        order: newest,
      },
    ],
    row(row, node) {
      marks(row, node);
      expect(row.type).toBe(node.entity_type);
      expect(row.status ?? null).toBe(node.status?.template?.name ?? null);
    },
    another: (world, i) =>
      world.make("Grouping", { name: `More ${i} ${Date.now()} ${world.run}`, context: "unspecified" }),
  },
  {
    tool: "list_groupings",
    rows: "groupings",
    prepare: makeContainers,
    questions: [
      { args: ({ run }) => ({ query: run }), holds: ofType("Grouping") },
      {
        args: ({ run }) => ({ query: run, context: "malware-analysis", order: "newest" }),
        holds: (node, world) => ofType("Grouping")(node, world) && node.context === "malware-analysis",
        order: newest,
      },
    ],
    row(row, node) {
      marks(row, node);
      expect(row.context).toBe(node.context);
    },
    another: (world, i) =>
      world.make("Grouping", { name: `More ${i} ${Date.now()} ${world.run}`, context: "unspecified" }),
  },
  {
    tool: "list_cases",
    rows: "cases",
    prepare: makeContainers,
    questions: [
      { args: ({ run }) => ({ query: run }), holds: CASES },
      {
        args: ({ run }) => ({ query: run, severity: "high" }),
        holds: (node, world) => CASES(node, world) && node.severity === "high",
      },
      {
        args: ({ run }) => ({ query: run, priority: "P1", types: ["Case-Incident"], order: "newest" }),
        holds: (node, world) => ofType("Case-Incident")(node, world) && node.priority === "P1",
        order: newest,
      },
    ],
    row(row, node) {
      marks(row, node);
      expect([row.type, row.severity ?? null, row.priority ?? null]).toEqual([
        node.entity_type,
        node.severity,
        node.priority,
      ]);
    },
    another: (world, i) => world.make("Case-Rfi", { name: `Case more ${i} ${Date.now()} ${world.run}` }),
  },
  {
    tool: "list_tasks",
    rows: "tasks",
    prepare: makeContainers,
    questions: [
      { args: ({ run }) => ({ query: run }), holds: ofType("Task") },
      {
        args: ({ ids }) => ({ case_id: ids.case0, order: "newest" }),
        holds: (node, { ids }) => [0, 1, 2, 3, 4].some((i) => ids[`task${i}`] === node.id),
        order: newest,
      },
    ],
    row(row, node) {
      marks(row, node);
      expect(row.due_date === undefined ? null : Date.parse(String(row.due_date))).toBe(
        node.due_date === null ? null : Date.parse(node.due_date),
      );
    },
    another: (world, i) => world.make("Task", { name: `Task more ${i} ${Date.now()} ${world.run}` }),
  },
  {
    tool: "list_vulnerabilities",
    rows: "vulnerabilities",
    prepare: makeContainers,
    questions: [
      { args: ({ run }) => ({ query: run }), holds: ofType("Vulnerability") },
      {
        args: ({ run }) => ({ query: run, kev_only: true }),
        holds: (node, world) => ofType("Vulnerability")(node, world) && node.x_opencti_cisa_kev === true,
      },
      {
        args: ({ run }) => ({ query: run, min_cvss: 9.8, order: "newest" }),
        holds: (node, world) => ofType("Vulnerability")(node, world) && node.x_opencti_cvss_base_score >= 9.8,
        order: newest,
      },
      {
        args: ({ run }) => ({ query: run, min_epss: 0.5 }),
        holds: (node, world) => ofType("Vulnerability")(node, world) && node.x_opencti_epss_score >= 0.5,
      },
    ],
    row(row, node) {
      marks(row, node);
      expect([row.cvss_score ?? null, row.kev ?? null, row.epss_score ?? null]).toEqual([
        node.x_opencti_cvss_base_score,
        node.x_opencti_cisa_kev,
        node.x_opencti_epss_score,
      ]);
    },
    another: (world, i) => world.make("Vulnerability", { name: `CVE-2032-${i}${Date.now()} ${world.run}` }),
  },
];

/** Tools that list containers and vulnerabilities. */
export const containerListTruths: readonly Truth<Stage>[] = LISTS.map(truthOf);
