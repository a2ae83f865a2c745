import { readFileSync } from "node:fs";
import { frameOf, table, text } from "../../../clients/load/report/frame.js";
import { titleOf } from "../figures/latencies.js";
import { latencyTableOf, tableOf } from "../figures/table.js";
import type { Result } from "./result.js";

/** From the root of the repository. */
const PLOTS = "test/bench/report/plots.js";

/** One page with the figures and plots of a result. */
export function pageOf(result: Result): string {
  const { groups, latencies, skipped, at, by, machine, options } = result;
  const suites = [...new Set(groups.map(({ suite }) => suite))];
  const sections = suites.map((suite) => {
    const own = groups.map((group, i) => ({ group, i })).filter(({ group }) => group.suite === suite);
    const shown = own.map(({ group, i }) => section(group.name, tableOf(group), `group-${i}`));
    return `<h2>${text(suite)}: µs of CPU per request</h2>\n${shown.join("\n")}`;
  });
  const timed = latencies.map((one, i) => section(titleOf(one), latencyTableOf(one), `latency-${i}`));
  const body = `<h1>Benchmark</h1>
<p class="quiet">${text(`${at}, ${by}, Node.js ${machine.node}, ${machine.cpus} × ${machine.cpu}, Linux ${machine.kernel}; ${machine.pinning}`)}</p>
<p>Each figure is the median of ${options.rounds} rounds. In each round, every server of a table answered the same request
for ${options.ms} ms, in another order. A ratio is the median of the ratios of each round. Each plot shows the rounds: lines that move
together are the machine, a line that moves alone is the server.</p>
${skipped.map((one) => `<p class="bad">Not measured: ${text(one)}</p>`).join("\n")}
${sections.join("\n")}
${timed.length === 0 ? "" : `<h2>Latency at a constant rate</h2>\n<p class="quiet">From the time at which a request was due. "Late" is the part of it until the generator took the request up. "Behind" counts the runs in which the generator fell behind its schedule.</p>\n${timed.join("\n")}`}`;
  return frameOf({ title: `Benchmark ${at}`, body, data: { groups, latencies }, script: readFileSync(PLOTS, "utf8") });
}

function section(
  name: string,
  { head, rows }: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] },
  id: string,
): string {
  return `<h3>${text(name)}</h3>\n${table(head, rows)}\n<div class="plot" id="${id}"></div>`;
}
