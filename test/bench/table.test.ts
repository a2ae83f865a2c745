import { expect, test } from "vitest";
import type { Measured, Row } from "./figures/group.js";
import type { Latencies } from "./figures/latencies.js";
import { latencyTableOf, tableOf, textOf } from "./figures/table.js";
import { pageOf } from "./report/page.js";

const row = (name: string, kind: Row["kind"], cpu: readonly number[]): Row => ({
  ...{ name, kind, bytes: 2_300, megabytes: 61.4 },
  turns: cpu.map((one) => ({ cpu: one, rate: 1_000_000 / one })),
});
const group: Measured = {
  suite: "facade",
  name: "tools/list <b>",
  rows: [
    row("bare µWS", "floor", [10, 20, 11]),
    row("façade", "ours", [12, 24, 13]),
    row("Rust SDK (rmcp), by hand", "peer", [100, 200, 110]),
  ],
};
const run = (p50: number) => ({
  ms: { p50, p99: p50 * 4, "p99.9": p50 * 9 },
  lateMs: { p50: 0, p99: 0.1, "p99.9": p50 },
  ...{ failed: 1, isBehind: p50 > 1, curve: { percentages: [0, 90, 100], ms: [p50, p50, p50] } },
});
const latencies: Latencies = {
  name: "list_agents",
  rate: 500,
  rows: [
    { name: "bare µWS", kind: "floor", runs: [run(0.5), run(0.7)] },
    { name: "one process", kind: "ours", runs: [run(1), run(1.4)] },
  ],
};

test("a group is compared with its floor and with each peer", () => {
  const { head, rows } = tableOf(group);
  expect(head.slice(3, 5)).toEqual(["× bare µWS", "× Rust SDK"]);
  expect(rows[1]).toEqual(["façade", "13", "12–24", "1.20", "0.12", "76,923", "2,300", "61"]);
});

test("columns are aligned", () => {
  const lines = textOf({
    head: ["", "µs"],
    rows: [
      ["a long name", "1"],
      ["b", "12.5"],
    ],
  }).split("\n");
  expect(lines).toEqual(["               µs", "a long name     1", "b            12.5", ""]);
});

test("latencies are compared with the floor in the same rounds, and say what is not to be believed", () => {
  const [, own] = latencyTableOf(latencies).rows;
  expect(own).toEqual(["one process", "1.2", "2.00", "4.8", "2.00", "10.8", "2.00", "1.2", "2", "1 of 2"]);
});

test("the page has the figures and the data of its plots, and its texts are text", () => {
  const html = pageOf({
    ...{
      version: 1,
      at: "2026-07-28T00:00:00Z",
      by: "sallyport",
      groups: [group],
      latencies: [latencies],
      skipped: ["<i>"],
    },
    machine: { node: "v20", cpu: "c", cpus: 2, kernel: "6", pinning: "none" },
    options: { rounds: 3, ms: 100, connections: [1], pause: 0, seconds: 1 },
  });
  expect(html).toContain("tools/list &lt;b&gt;");
  expect(html).toContain("Not measured: &lt;i&gt;");
  for (const id of ["group-0", "latency-0"]) expect(html).toContain(`id="${id}"`);
  const data = /<script type="application\/json" id="report">(.*?)<\/script>/s.exec(html)?.[1] ?? "";
  expect(JSON.parse(data)).toMatchObject({ groups: [{ rows: [{ turns: [{ cpu: 10 }, {}, {}] }, {}, {}] }] });
});
