import { readFileSync } from "node:fs";
import { frameOf, table, text } from "./frame.js";
import type { Latency, Report } from "./report.js";

/** One page with the figures and plots of a report. */
export function pageOf(report: Report): string {
  const { at, points, curve } = report;
  const script = readFileSync(new URL("plots.js", import.meta.url), "utf8");
  return frameOf({ title: `Load report ${at}`, body: bodyOf(report), data: { points, curve }, script });
}

function bodyOf(report: Report): string {
  const { scenario, notes, thresholds, failures } = report;
  return `<h1>Load report</h1>
<p class="quiet">${text(`${report.at}, ${report.server || "a server without a name"}, by ${report.by}`)}</p>
${notes.map((note) => `<p class="bad">${text(note)}</p>`).join("\n")}
${thresholds.map(({ holds, sentence }) => `<p class="${holds ? "good" : "bad"}">${holds ? "Holds" : "Fails"}: ${text(sentence)}</p>`).join("\n")}
<h2>Requests</h2>
${table(SUMMARY, [summaryOf(report)])}
<h2>Latency, in milliseconds</h2>
<p class="quiet">From the time at which a request was due. "On the wire" is from the time at which it was sent.</p>
${table(["", ...PERCENTILES, "good", "failed", "bytes"], latencyRows(report))}
<h2>Percentiles</h2>
<div class="plot" id="curve"></div>
<h2>Rate</h2>
<div class="plot" id="rate"></div>
<h2>Latency over time</h2>
<p class="quiet">By the second in which answers arrived.</p>
<div class="plot" id="latency"></div>
<h2>Under way and waiting</h2>
<div class="plot" id="queue"></div>
${
  failures.length === 0
    ? ""
    : `<h2>Failures</h2>\n${table(
        ["reason", "requests", "first answer"],
        failures.map(({ reason, count, first }) => [reason, String(count), first]),
        "words",
      )}`
}
<h2>Scenario</h2>
${table(
  ["setting", "value"],
  Object.entries({ ...scenario, ...report.machine }).map(([name, value]) => [
    name,
    typeof value === "object" ? JSON.stringify(value) : String(value),
  ]),
  "words",
)}`;
}

const PERCENTILES = ["min", "mean", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "max"] as const;
const SUMMARY = [
  "",
  "due",
  "good",
  "failed",
  "due per second",
  "good per second",
  "seconds",
  "connections",
  "generator's CPU",
];

function summaryOf({ requests, rate, elapsedMs, connections, generator }: Report): string[] {
  return [
    "all",
    ...[requests.due, requests.good, requests.failed].map(String),
    ...[rate.due, rate.good, elapsedMs / 1_000].map((value) => value.toFixed(1)),
    `${connections.kept} (opened ${connections.opened} times)`,
    `${(generator.cpuShare * 100).toFixed(0)} % of a core`,
  ];
}

function latencyRows(report: Report): string[][] {
  const { requests, latencyMs, wireMs, operations, generator } = report;
  const rest = [String(requests.good), String(requests.failed), ""];
  return [
    ["all requests", ...cells(latencyMs), ...rest],
    ["on the wire", ...cells(wireMs), "", "", ""],
    ["generator's delay", ...cells(generator.lateMs), "", "", ""],
    ...operations.map(({ kind, era, latencyMs: own, good, failed, bytes }) => [
      `${kind} ${era}`,
      ...cells(own),
      ...[good, failed, bytes].map(String),
    ]),
  ];
}

const cells = (latency: Latency): string[] => PERCENTILES.map((name) => latency[name].toFixed(2));
