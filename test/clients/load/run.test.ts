import { decodeFromCompressedBase64 } from "hdr-histogram-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pageOf } from "../../../clients/load/report/page.js";
import type { Report } from "../../../clients/load/report/report.js";
import { summaryOf } from "../../../clients/load/summary.js";
import { CTI, type Started, start } from "../../facade/support/start.js";
import { bodyOf, createScreen, listen, resultOf, runLoad } from "./support/servers.js";

const KEYS = ["slp_first_secret_key", "slp_second_secret_key"];
const WORD = "not-shown!";

let facade: Started;
let report: Report;
const screen = createScreen();

beforeAll(async () => {
  facade = await start();
  for (const key of KEYS) facade.keys.add(key, { scopes: CTI });
  report = await runLoad(
    [
      ...["--url", `${facade.url}/mcp/cti`, "--key", KEYS[0] as string],
      ...["--rate", "120", "--seconds", "1.5", "--warmup", "0.5", "--connections", "6"],
      ...[
        "--mix",
        "list=1,call=2,progress=1",
        "--tool",
        "echo_sighting",
        "--arguments",
        JSON.stringify({ word: WORD }),
      ],
      ...["--progress-tool", "count_sightings", "--progress-arguments", '{"steps":2,"step_ms":1}'],
      ...["--header", "X-Secret: the-value-of-a-header", "--threshold", "errors<1", "--threshold", "p99<0.001ms"],
    ],
    screen,
  );
});
afterAll(() => facade.close());

test("a façade answers every kind in both eras", () => {
  expect(report.requests).toEqual({ due: 180, good: 180, failed: 0 });
  expect(report.failures).toEqual([]);
  const counts = Object.fromEntries(report.operations.map(({ kind, era, good }) => [`${kind} ${era}`, good]));
  for (const era of ["2026-07-28", "2025-11-25"]) {
    // The mix begins in the warm-up, so a round may be cut.
    expect(Math.abs(counts[`list ${era}`]! - 22.5)).toBeLessThan(2);
    expect(Math.abs(counts[`call ${era}`]! - 45)).toBeLessThan(2);
    expect(Math.abs(counts[`progress ${era}`]! - 22.5)).toBeLessThan(2);
  }
  for (const { kind, good, streams, bytes } of report.operations) {
    expect(streams).toBe(kind === "progress" ? good : 0);
    expect(bytes).toBeGreaterThan(50);
  }
  expect(report.server).not.toBe("");
  expect(report.connections).toEqual({ kept: 6, opened: 6 });
});

test("the numbers add up", () => {
  const sum = (of: readonly number[]): number => of.reduce((total, one) => total + one, 0);
  const { requests, operations, points, kinds, histograms, curve, latencyMs, wireMs } = report;
  expect(sum(operations.map(({ good }) => good))).toBe(requests.good);
  expect(sum(Object.values(kinds).map(({ good }) => good))).toBe(requests.good);
  expect(sum(points.map(({ due }) => due))).toBe(requests.due);
  expect(sum(points.map(({ good, failed }) => good + failed))).toBe(requests.due);
  expect(points.at(-1)).toMatchObject({ inFlight: 0, waiting: 0 });
  expect(decodeFromCompressedBase64(histograms.latency).totalCount).toBe(requests.due);
  expect(decodeFromCompressedBase64(histograms.wire).totalCount).toBe(requests.due);
  expect(curve.series[0]?.ms.at(-1)).toBe(latencyMs.max);
  for (const { ms } of curve.series) expect([...ms].sort((a, b) => a - b)).toEqual(ms);
  expect(wireMs.p50).toBeLessThanOrEqual(latencyMs.p50);
  expect(report.elapsedMs).toBeGreaterThanOrEqual(1_499);
  expect(report.rate.good).toBeCloseTo((requests.good * 1_000) / report.elapsedMs, 6);
});

test("thresholds are checked", () => {
  expect(report.thresholds.map(({ holds }) => holds)).toEqual([true, false]);
  expect(summaryOf(report)).toMatch(/Holds: errors is 0; .*\nFails: p99 is /);
});

test("no key, header's value or argument's value is in a report", () => {
  for (const text of [JSON.stringify(report), pageOf(report), summaryOf(report), screen.lines.join("")]) {
    for (const secret of [...KEYS, "the-value-of-a-header", WORD]) expect(text).not.toContain(secret);
  }
  expect(report.scenario).toMatchObject({ keys: 1, headers: ["x-secret"], call: { arguments: ["word"] } });
});

test("a key that a server repeats is hidden", async () => {
  let calls = 0;
  const server = await listen(async (request, response) => {
    const { id } = await bodyOf(request);
    response.setHeader("content-type", "application/json");
    if (++calls <= 2) response.end(resultOf(id));
    else response.writeHead(401).end(`"${request.headers.authorization}" is wrong`);
  });
  const failed = await runLoad([
    ...["--url", server.url, "--key", KEYS[0] as string, "--eras", "2026-07-28", "--connections", "1"],
    ...["--rate", "50", "--seconds", "0.2", "--warmup", "0", "--threshold", "errors<1%"],
  ]);
  await server.close();
  expect(failed.requests).toEqual({ due: 10, good: 0, failed: 10 });
  expect(failed.failures).toEqual([{ reason: "http_401", count: 10, first: '"Bearer [hidden]" is wrong' }]);
  expect(failed.notes.join("\n")).toMatch(/10 of 10 requests failed \(http_401 10\)/);
  expect(failed.thresholds[0]?.holds).toBe(false);
});

test("connections use the keys in order", async () => {
  const seen = new Set<string>();
  const server = await listen(async (request, response) => {
    seen.add(request.headers.authorization ?? "");
    response.setHeader("content-type", "application/json").end(resultOf((await bodyOf(request)).id));
  });
  const { run } = await import("../../../clients/load/run.js");
  const { readCommandLine } = await import("../../../clients/load/command-line.js");
  const argv = ["--url", server.url, "--eras", "2026-07-28", "--rate", "100", "--seconds", "0.2", "--warmup", "0"];
  const asked = readCommandLine([...argv, "--connections", "4"], {})!;
  await run({ ...asked.scenario, keys: KEYS }, screen, new AbortController().signal);
  await server.close();
  expect([...seen].sort()).toEqual(KEYS.map((key) => `Bearer ${key}`).sort());
});

test.each([
  ["no key", [], /failed with http_401.*Give a key/],
  [
    "an unknown tool",
    ["--key", KEYS[0] as string, "--tool", "nothing"],
    /failed with rpc_-32602 \(Unknown tool: nothing\).*Check --tool/,
  ],
])("%s is reported before the run", async (_what, argv, message) => {
  await expect(runLoad(["--url", `${facade.url}/mcp/cti`, ...argv])).rejects.toThrow(message);
  await expect(runLoad(["--url", `${facade.url}/mcp/cti`, ...argv])).rejects.toMatchObject({ exitCode: 6 });
});

test("requests without an answer are failures, also those that no connection was free for", async () => {
  let calls = 0;
  const server = await listen(async (request, response) => {
    const { id } = await bodyOf(request);
    if (++calls <= 2) response.setHeader("content-type", "application/json").end(resultOf(id));
  });
  const silent = await runLoad([
    ...["--url", server.url, "--eras", "2026-07-28", "--connections", "2", "--timeout", "0.4"],
    ...["--rate", "50", "--seconds", "0.3", "--warmup", "0"],
  ]);
  await server.close();
  expect(silent.requests).toEqual({ due: 15, good: 0, failed: 15 });
  expect(silent.failures.map(({ reason }) => reason).sort()).toEqual(["no_connection", "timeout"]);
  expect(silent.latencyMs.min).toBeGreaterThanOrEqual(399);
});

test("an interrupted run is reported as such", async () => {
  const server = await listen(async (request, response) => {
    response.setHeader("content-type", "application/json").end(resultOf((await bodyOf(request)).id));
  });
  const { run } = await import("../../../clients/load/run.js");
  const { readCommandLine } = await import("../../../clients/load/command-line.js");
  const asked = readCommandLine(
    ["--url", server.url, "--eras", "2026-07-28", "--seconds", "600", "--warmup", "0"],
    {},
  )!;
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 300);
  const cut = await run(asked.scenario, screen, stop.signal);
  await server.close();
  expect(cut.isInterrupted).toBe(true);
  expect(cut.notes[0]).toMatch(/interrupted/);
  expect(cut.requests.due).toBe(cut.requests.good + cut.requests.failed);
  expect(cut.elapsedMs).toBeLessThan(60_000);
});
