// node --import tsx --conditions=house:source test/bench/metrics-cost.ts: what a tool call pays for being counted,
// timed and given a trace id, in microseconds; the median of runs.

import { performance } from "node:perf_hooks";
import { Operation } from "../../facade/mcp/operation.js";
import type { Admitted } from "../../facade/mcp/server.js";
import { createSlowCalls } from "../../facade/mcp/slow-calls.js";
import { noteExchanges } from "../../services/platform-proxy/lib/noted-exchanges.js";
import { snapshots } from "../../services/shared/metrics/metrics.js";
import { silentLog } from "../../services/shared/process/log.js";
import { countCalls } from "../../services/shared/rpc/observed-calls.js";
import { newTraceparent } from "../../services/shared/rpc/traceparent.js";
import { readImage } from "../../services/shared/tools/image.js";
import { readTools } from "../../services/shared/tools/tools.js";

const CALLS = 200_000;
const RUNS = 9;

const tools = readTools(readImage()).filter(({ server }) => server === "cti");
const known = { caller: { id: "u", keyId: "k" } };
const exchange = { headers: { "user-agent": "claude-code/2.1.329 (cli)" } };
const slow = createSlowCalls(10_000, silentLog);
const who = { server: "cti", tool: "whoami", caller: "u", key: "k", outcome: "ok" };
const observe = countCalls(undefined);
const noteExchange = noteExchanges(10_000, silentLog);

/** All that is done of one call besides its work. */
function count(i: number): void {
  const tool = tools[i % tools.length] as (typeof tools)[number];
  const startedAt = performance.now();
  const admitted = { server: { name: "cti" }, known, exchange, startedAt } as unknown as Admitted;
  const operation = new Operation(admitted, "legacy", "tools/call");
  const traceparent = newTraceparent(false);
  const begunAt = performance.now();
  const answeredAt = performance.now();
  observe(tool.method, { traceparent } as never, { code: undefined, ms: 1, caller: undefined, startedAt });
  noteExchange({ target: { server: "cti", url: "" }, tool: tool.name, traceparent } as never, "2xx", 3);
  const now = performance.now();
  if (now - startedAt >= slow.fromMs) slow.note({ ...who, traceparent, startedAt, begunAt, answeredAt, now });
  operation.tool = tool.name;
  operation.end();
}

/** Microseconds of processor time: what others do on the machine does not count. */
const busy = (): number => process.cpuUsage().user + process.cpuUsage().system;

const runs = Array.from({ length: RUNS }, () => {
  const began = busy();
  for (let i = 0; i < CALLS; i++) count(i);
  return (busy() - began) / CALLS;
}).sort((a, b) => a - b);
const began = performance.now();
const series = (await snapshots()).reduce((sum, metric) => sum + metric.series.length, 0);
const scrape = performance.now() - began;
process.stdout.write(
  `${(runs[Math.floor(RUNS / 2)] as number).toFixed(2)} µs a call (${(runs[0] as number).toFixed(2)} to ${(runs.at(-1) as number).toFixed(2)}); ` +
    `a look at ${series} series takes ${scrape.toFixed(1)} ms\n`,
);
