import type { Distribution, LabelValues, Snapshot } from "./metrics.js";

/** The media type of the text: the format that every version of Prometheus reads. */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** What one process counted. */
export interface ProcessSnapshots {
  /** The label `process` of each of its series: processes start at other times, so their counts stay apart. */
  readonly process: string;
  readonly metrics: readonly Snapshot[];
}

/** The metrics of processes in the text format of Prometheus 0.0.4: those too that have no series yet. */
export function expositionOf(processes: readonly ProcessSnapshots[]): string {
  const byName = new Map<string, { readonly first: Snapshot; readonly lines: string[] }>();
  for (const { process, metrics } of processes) {
    for (const metric of metrics) {
      const entry = byName.get(metric.name) ?? { first: metric, lines: [] };
      byName.set(metric.name, entry);
      for (const { labels, value } of metric.series) entry.lines.push(...linesOf(metric, process, labels, value));
    }
  }
  return [...byName.values()]
    .map(({ first: { name, help, type }, lines }) =>
      [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n"),
    )
    .join("");
}

function linesOf(metric: Snapshot, process: string, values: LabelValues, value: number | Distribution): string[] {
  const { name, labels, bounds = [] } = metric;
  const own = ["process", ...labels]
    .map((label, at) => `${label}="${escaped([process, ...values][at] ?? "").replaceAll('"', '\\"')}"`)
    .join(",");
  if (typeof value === "number") return [`${name}{${own}} ${value}`];
  let count = 0;
  const buckets = value.counts.map((more, at) => {
    count += more;
    return `${name}_bucket{${own},le="${bounds[at] ?? "+Inf"}"} ${count}`;
  });
  return [...buckets, `${name}_sum{${own}} ${value.sum}`, `${name}_count{${own}} ${count}`];
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
