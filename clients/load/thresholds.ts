import { KINDS, type Kind } from "./mcp/message.js";
import type { Held, Latency, Report } from "./report/report.js";

/** A condition on one figure of a report. */
export interface Threshold {
  /** As it was given. */
  readonly text: string;
  /** Undefined: of all requests. */
  readonly kind: Kind | undefined;
  readonly metric: string;
  readonly comparison: "<" | "<=" | ">" | ">=";
  /** In milliseconds, a share, a number of requests, or requests per second. */
  readonly limit: number;
  readonly unit: "ms" | "share" | "count" | "rate";
}

const FORM =
  /^(?:(list|call|progress)\.)?(p50|p75|p90|p95|p99|p99\.9|p99\.99|min|mean|max|errors|rate)(<=|>=|<|>)(\d+(?:\.\d+)?)(ms|s|%|\/s)?$/;
const EXAMPLES = "such as p99<50ms, call.p99.9<=1s, errors<0.1%, errors<5 or rate>=900";

/**
 * Reads a threshold such as `p99<50ms`.
 *
 * @throws Error that says what one looks like.
 */
export function readThreshold(text: string): Threshold {
  const [, kind, metric, comparison, number, given] = FORM.exec(text.replaceAll(" ", "")) ?? [];
  if (metric === undefined || comparison === undefined) {
    throw new Error(
      `must be thresholds ${EXAMPLES}; "${text}" is not one. The figures are p50, p75, p90, p95, p99, p99.9, p99.99, min, mean, max, errors and rate, of all requests or of ${KINDS.join(", ")}`,
    );
  }
  const unit = UNITS[metric === "errors" || metric === "rate" ? metric : "latency"][given ?? ""];
  if (unit === undefined) throw new Error(`must be thresholds ${EXAMPLES}; "${text}" has the wrong unit`);
  return {
    text,
    kind: KINDS.find((one) => one === kind),
    metric,
    comparison: comparison as Threshold["comparison"],
    limit: Number(number) * unit.factor,
    unit: unit.unit,
  };
}

interface Unit {
  readonly unit: Threshold["unit"];
  readonly factor: number;
}
const UNITS: Readonly<Record<"latency" | "errors" | "rate", Readonly<Record<string, Unit>>>> = {
  latency: { ms: { unit: "ms", factor: 1 }, s: { unit: "ms", factor: 1_000 } },
  errors: { "%": { unit: "share", factor: 0.01 }, "": { unit: "count", factor: 1 } },
  rate: { "": { unit: "rate", factor: 1 }, "/s": { unit: "rate", factor: 1 } },
};

/** Compares the figures of a report with a threshold. */
export function check(
  threshold: Threshold,
  report: Pick<Report, "requests" | "elapsedMs" | "kinds" | "latencyMs">,
): Held {
  const { text, kind, comparison, limit } = threshold;
  const figures = kind === undefined ? { ...report.requests, latencyMs: report.latencyMs } : report.kinds[kind];
  if (figures === undefined || figures.good + figures.failed === 0) {
    return { threshold: text, holds: false, sentence: `${text} could not be checked: no such request was sent.` };
  }
  const value = measuredBy(threshold, figures, report.elapsedMs);
  const holds = COMPARE[comparison](value, limit);
  const what = `${threshold.metric}${kind === undefined ? "" : ` of ${kind} requests`} is ${shown(value, threshold.unit)}`;
  return { threshold: text, holds, sentence: `${what}; the threshold is ${text}.` };
}

interface Figures {
  readonly good: number;
  readonly failed: number;
  readonly latencyMs: Latency;
}

function measuredBy({ metric, unit }: Threshold, figures: Figures, elapsedMs: number): number {
  const { good, failed, latencyMs } = figures;
  if (metric === "rate") return (good * 1_000) / elapsedMs;
  if (metric === "errors") return unit === "count" ? failed : failed / (good + failed);
  return latencyMs[metric as keyof Latency];
}

const COMPARE: Readonly<Record<Threshold["comparison"], (a: number, b: number) => boolean>> = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

function shown(value: number, unit: Threshold["unit"]): string {
  if (unit === "ms") return `${Number(value.toPrecision(4))} ms`;
  if (unit === "share") return `${Number((value * 100).toPrecision(3))} %`;
  return unit === "count" ? String(value) : `${value.toFixed(1)} per second`;
}
