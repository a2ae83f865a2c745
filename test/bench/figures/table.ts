import { cpuOf, type Measured, type Row } from "./group.js";
import { figureOf, type Latencies, PERCENTILES } from "./latencies.js";
import { median, pairedRatio, shown } from "./statistics.js";

/** A heading and rows of texts. */
export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The figures of a group: CPU time, and its ratio to that of each floor and each peer in the same rounds. */
export function tableOf({ rows }: Measured): Table {
  const compared = rows.filter(({ kind }) => kind !== "ours");
  const head = [
    ...["", "µs of CPU", "min–max", ...compared.map(({ name }) => `× ${shortOf(name)}`)],
    ...["answers/s", "bytes", "MB"],
  ];
  return { head, rows: rows.map((row) => [row.name, ...cellsOf(row, compared)]) };
}

const shortOf = (name: string): string => name.split(/[,(]/)[0]?.trim() as string;

function cellsOf(row: Row, compared: readonly Row[]): string[] {
  const cpu = cpuOf(row);
  return [
    shown(median(cpu)),
    `${shown(Math.min(...cpu))}–${shown(Math.max(...cpu))}`,
    ...compared.map((other) => pairedRatio(cpu, cpuOf(other)).toFixed(2)),
    shown(Math.round(median(row.turns.map(({ rate }) => rate)))),
    row.bytes === undefined ? "–" : row.bytes.toLocaleString("en"),
    Number.isNaN(row.megabytes) ? "–" : row.megabytes.toFixed(0),
  ];
}

/** The figures of a rate: milliseconds, their ratio to the floor's in the same rounds, and how late the generator was. */
export function latencyTableOf(latencies: Latencies): Table {
  const head = ["", ...PERCENTILES.flatMap((name) => [`${name} ms`, "× bare"]), "p99.9 late ms", "failed", "behind"];
  return {
    head,
    rows: latencies.rows.map((row) => [
      row.name,
      ...PERCENTILES.flatMap((percentile) => {
        const { ms, ratio } = figureOf(latencies, row, percentile);
        return [shown(ms), ratio.toFixed(2)];
      }),
      shown(median(row.runs.map(({ lateMs }) => lateMs["p99.9"]))),
      String(row.runs.reduce((sum, { failed }) => sum + failed, 0)),
      `${row.runs.filter(({ isBehind }) => isBehind).length} of ${row.runs.length}`,
    ]),
  };
}

/** A table in columns of text. */
export function textOf({ head, rows }: Table): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ");
  return all.map((row) => `${line(row)}\n`).join("");
}
