import { cpus } from "node:os";
import { VERSION } from "../../../services/shared/process/version.js";
import type { Ran } from "../generator.js";
import { isBehind, notesOf } from "../notes.js";
import type { Recorder, Tally } from "../recorder.js";
import type { Scenario } from "../scenario.js";
import { shownUrl } from "../secrets.js";
import { check } from "../thresholds.js";
import { curveOf, latencyOf } from "./percentiles.js";
import type { Group, Report } from "./report.js";

/** What a report is made of. */
export interface Measured {
  readonly scenario: Scenario;
  readonly recorder: Recorder;
  readonly ran: Ran;
  readonly server: string;
  /** How often connections were opened. */
  readonly opened: number;
  readonly scrub: (text: string) => string;
}

/** Makes the report of a run. */
export function reportOf({ scenario, recorder, ran, server, opened, scrub }: Measured): Report {
  const { latency, wire, late, waited, tallies, due, good, failed } = recorder;
  const requests = { due, good, failed };
  const elapsedMs = ran.elapsedMs;
  const measured = {
    version: 1 as const,
    at: new Date().toISOString(),
    by: `sallyport ${VERSION}`,
    scenario: shownScenario(scenario),
    server,
    machine: { node: process.version, cpu: cpus()[0]?.model ?? "", cpus: cpus().length },
    isInterrupted: ran.isInterrupted,
    elapsedMs,
    requests,
    rate: { due: perSecond(due, elapsedMs), good: perSecond(good, elapsedMs) },
    latencyMs: latencyOf(latency),
    wireMs: latencyOf(wire),
    operations: tallies.map((tally) => ({
      kind: tally.operation.kind,
      era: tally.operation.era,
      ...groupOf([tally]),
      bytes: Math.round(tally.bytes / Math.max(1, tally.good + tally.failed)),
      streams: tally.streams,
    })),
    kinds: Object.fromEntries(
      scenario.mix.map(([kind]) => [kind, groupOf(tallies.filter(({ operation }) => operation.kind === kind))]),
    ),
    failures: [...recorder.failures.values()]
      .sort((a, b) => b.count - a.count)
      .map(({ reason, count, detail }) => ({ reason, count, first: scrub(detail) })),
    waiting: { requests: waited.count, waitedMs: latencyOf(waited) },
    connections: { kept: scenario.connections, opened },
    generator: {
      cpuShare: ran.cpuMs / elapsedMs,
      cpuMicrosecondsPerRequest: (ran.cpuMs * 1_000) / Math.max(1, due),
      lateMs: latencyOf(late),
      late: recorder.lateOnes,
      isBehind: isBehind(recorder.lateOnes, due),
    },
    points: recorder.points,
    curve: curveOf(latency, wire, tallies),
    histograms: { latency: latency.encoded(), wire: wire.encoded() },
  };
  const thresholds = scenario.thresholds.map((threshold) => check(threshold, measured));
  const report = { ...measured, thresholds };
  return { ...report, notes: notesOf(report) };
}

/** The scenario as far as it is no secret. */
function shownScenario(scenario: Scenario): object {
  const call = ({ tool, arguments: given }: Scenario["calls"]["call"]): object => ({
    tool,
    arguments: Object.keys(given),
  });
  return {
    url: shownUrl(scenario.url),
    shape: scenario.shape,
    stages: scenario.stages,
    warmupSeconds: scenario.warmupSeconds,
    mix: Object.fromEntries(scenario.mix),
    eras: Object.fromEntries(scenario.eras),
    call: call(scenario.calls.call),
    progress: call(scenario.calls.progress),
    connections: scenario.connections,
    keys: scenario.keys.length,
    headers: Object.keys(scenario.headers),
    timeoutMs: scenario.timeoutMs,
    isPrecise: scenario.isPrecise,
  };
}

const perSecond = (count: number, elapsedMs: number): number => (count * 1_000) / elapsedMs;

function groupOf(tallies: readonly Tally[]): Group {
  const sum = (of: "good" | "failed"): number => tallies.reduce((total, tally) => total + tally[of], 0);
  return { good: sum("good"), failed: sum("failed"), latencyMs: latencyOf(...tallies.map(({ latency }) => latency)) };
}
