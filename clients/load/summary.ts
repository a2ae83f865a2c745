import type { Latency, Report } from "./report/report.js";

const COLUMNS = ["p50", "p90", "p99", "p99.9", "max"] as const;

/** The figures of a report for a terminal, the sentences last. */
export function summaryOf(report: Report): string {
  const { requests, rate, generator, operations } = report;
  const head = `${"latency, ms".padEnd(24)}${COLUMNS.map((name) => name.padStart(11)).join("")}`;
  const lines = [
    `${requests.due} requests in ${(report.elapsedMs / 1_000).toFixed(1)} s: ${requests.good} good (${rate.good.toFixed(1)}/s), ${requests.failed} failed`,
    `generator: ${(generator.cpuShare * 100).toFixed(0)} % of a core, ${generator.cpuMicrosecondsPerRequest.toFixed(0)} µs a request, ${generator.late} requests more than 10 ms late`,
    "",
    head,
    row("all requests", report.latencyMs),
    row("on the wire", report.wireMs),
    row("generator's delay", generator.lateMs),
    ...operations.map(({ kind, era, latencyMs }) => row(`${kind} ${era}`, latencyMs)),
  ];
  const sentences = [
    ...report.notes.map((note) => `Note: ${note}`),
    ...report.failures.map(
      ({ reason, count, first }) => `Failed: ${reason}, ${count} times${first === "" ? "" : `, first: ${first}`}`,
    ),
    ...report.thresholds.map(({ holds, sentence }) => `${holds ? "Holds" : "Fails"}: ${sentence}`),
  ];
  return `${[...lines, ...(sentences.length > 0 ? ["", ...sentences] : [])].join("\n")}\n`;
}

const row = (name: string, latency: Latency): string =>
  `${name.padEnd(24)}${COLUMNS.map((column) => latency[column].toFixed(2).padStart(11)).join("")}`;
