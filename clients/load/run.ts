import { createConnections } from "./connections.js";
import { drive } from "./generator.js";
import { createLive, type Screen } from "./live.js";
import { open } from "./opening.js";
import { operationsOf } from "./operation.js";
import { Recorder } from "./recorder.js";
import { reportOf } from "./report/make-report.js";
import type { Report } from "./report/report.js";
import type { Scenario } from "./scenario.js";
import { createSchedule, type Stage } from "./schedule.js";
import { createScrub } from "./secrets.js";
import { createTurns } from "./turns.js";

/** The most intervals of a report. */
const MAX_POINTS = 3_600;

/**
 * Runs a scenario: opens the connections, sends on schedule, and reports.
 *
 * @param screen shows the run while it is under way.
 * @param stop ends the sending early; the report says so.
 * @throws Failure if the server does not answer before the run as an MCP server does.
 */
export async function run(scenario: Scenario, screen: Screen, stop: AbortSignal): Promise<Report> {
  const weighted = operationsOf(scenario);
  const operations = weighted.map(([operation]) => operation);
  const scrub = createScrub([...scenario.keys, ...Object.values(scenario.headers)]);
  const schedule = createSchedule([...warmupOf(scenario), ...scenario.stages]);
  const counted = createSchedule(scenario.stages);
  const warmup = { count: schedule.count - counted.count, lengthMs: schedule.lengthMs - counted.lengthMs };
  const { connections, server } = await open(scenario, operations, scrub);
  const recorder = new Recorder(operations);
  const live = createLive(screen, schedule, warmup.lengthMs, recorder);
  const ran = await drive({
    schedule,
    warmup,
    next: createTurns(weighted),
    connections: createConnections(connections, scenario.timeoutMs),
    recorder,
    isPrecise: scenario.isPrecise,
    intervalMs: Math.max(1, counted.lengthMs / 1_000 / MAX_POINTS) * 1_000,
    watch: live.show,
    stop,
  });
  live.end();
  const opened = connections.reduce((sum, connection) => sum + connection.opened, 0);
  return reportOf({ scenario, recorder, ran, server, opened, scrub });
}

/** The warm-up as a stage of whole requests, so that the next one is the first of the run; none if it sends nothing. */
function warmupOf({ warmupSeconds: seconds, stages }: Scenario): readonly Stage[] {
  const rate = stages[0]?.from ?? 0;
  const requests = Math.floor(seconds * rate);
  return requests < 1 ? [] : [{ seconds: requests / rate, from: rate, to: rate }];
}
