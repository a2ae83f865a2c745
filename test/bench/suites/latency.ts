// How long answers take at half of what the program can do, with the load
// generator's open model, against the floor at the same rate.

import { setTimeout as sleep } from "node:timers/promises";
import type { Kind as RequestKind } from "../../../clients/load/mcp/message.js";
import { messageOf } from "../../../clients/load/mcp/message.js";
import type { Report } from "../../../clients/load/report/report.js";
import { run } from "../../../clients/load/run.js";
import type { Scenario } from "../../../clients/load/scenario.js";
import { cpuOf, type Kind } from "../figures/group.js";
import type { Run, TimedRow } from "../figures/latencies.js";
import { measure } from "../figures/measure.js";
import { median } from "../figures/statistics.js";
import { turnsOf } from "../figures/turns.js";
import { load, requestBytes } from "../load.js";
import { type Program, startProgram } from "../servers/program.js";
import { createAgents, LIST_AGENTS } from "./agents.js";
import { capture, startFloor } from "./capture.js";
import { type Context, mostOf } from "./context.js";

const ERA = "2026-07-28";
/**
 * How long it is waited after a start. Until then built-in platforms make their data, and V8 collects what that left, in
 * threads on the one processor of the servers.
 */
const START_MS = 60_000;
const CAPACITY_ROUNDS = 3;
const WARM_UP_SECONDS = 1;
const SILENT = { write: () => true };
const MICROSECONDS = 1_000_000;

interface Operation {
  readonly name: string;
  readonly kind: RequestKind;
  readonly path: string;
}

const OPERATIONS: readonly Operation[] = [
  { name: "tools/list of cti", kind: "list", path: "/mcp/cti" },
  { name: "list_agents, a read", kind: "call", path: "/mcp/core" },
];
const CALL = { tool: LIST_AGENTS.name, arguments: LIST_AGENTS.arguments };

interface Timed {
  readonly name: string;
  readonly kind: Kind;
  readonly port: number;
  readonly runs: Run[];
}

/** Measures latencies of the program in one process. */
export async function latencySuite(context: Context): Promise<void> {
  const ended = sleep(START_MS);
  const program = await startProgram({});
  await createAgents(program, LIST_AGENTS.arguments.page_size);
  await ended;
  for (const operation of OPERATIONS.filter(({ name }) => context.wants(name)))
    await measureOperation(context, program, operation);
  await program.stop();
}

async function measureOperation(context: Context, program: Program, operation: Operation): Promise<void> {
  const { name, kind, path } = operation;
  const { headers, bodyOf } = messageOf(kind, ERA, CALL);
  const request = requestBytes(path, { ...headers, authorization: `Bearer ${program.key}` }, bodyOf(1));
  const answer = await capture(program.port, request, { status: 200 });
  // The generator reads the id of short answers.
  const floor = await startFloor(answer, { answersId: kind === "call" });
  const rate = await halfOfCapacity(context, program, request);
  const rows: readonly Timed[] = [
    { name: "bare µWS", kind: "floor", port: floor.port, runs: [] },
    { name: "one process", kind: "ours", port: program.port, runs: [] },
  ];
  for (let round = 0; round < context.pace.rounds; round++) {
    for (const { port, runs } of turnsOf(rows, round)) {
      const url = new URL(`http://127.0.0.1:${port}${path}`);
      const scenario = scenarioOf(context, { url, kind, rate, key: program.key });
      runs.push(runOf(await run(scenario, SILENT, new AbortController().signal)));
    }
  }
  await floor.stop();
  const timed = rows.map(({ name: row, kind: of, runs }): TimedRow => ({ name: row, kind: of, runs }));
  context.timed({ name, rate, rows: timed });
}

/** By its CPU time of a request in a closed loop, on the one core that a process mostly uses. */
async function halfOfCapacity(context: Context, { pids, port }: Program, request: Buffer): Promise<number> {
  const send = (ms: number): Promise<number> => load({ port, requests: [request], connections: mostOf(context) }, ms);
  const variants = [{ name: "one process", kind: "ours" as const, pids, send }];
  const group = { suite: "latency", name: "capacity", variants } as const;
  const { rows } = await measure(group, { ...context.pace, rounds: CAPACITY_ROUNDS });
  const capacity = MICROSECONDS / median(rows.flatMap(cpuOf));
  return Math.round(capacity / 2);
}

function scenarioOf(
  context: Context,
  {
    url,
    kind,
    rate,
    key,
  }: { readonly url: URL; readonly kind: RequestKind; readonly rate: number; readonly key: string },
): Scenario {
  return {
    url,
    shape: "soak",
    stages: [{ seconds: context.seconds, from: rate, to: rate }],
    warmupSeconds: WARM_UP_SECONDS,
    mix: [[kind, 1]],
    eras: [[ERA, 1]],
    calls: { call: CALL, progress: CALL },
    connections: mostOf(context),
    keys: [key],
    headers: {},
    timeoutMs: 10_000,
    isPrecise: true,
    thresholds: [],
  };
}

function runOf({ latencyMs, requests, generator, curve }: Report): Run {
  const of = (times: Report["latencyMs"]): Run["ms"] => ({ p50: times.p50, p99: times.p99, "p99.9": times["p99.9"] });
  const all = { percentages: curve.percentages, ms: curve.series[0]?.ms ?? [] };
  const { isBehind, lateMs } = generator;
  return { ms: of(latencyMs), lateMs: of(lateMs), failed: requests.failed, isBehind, curve: all };
}
