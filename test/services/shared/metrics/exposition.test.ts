import { expect, test } from "vitest";
import { expositionOf } from "../../../../services/shared/metrics/exposition.js";
import {
  counter,
  gauge,
  histogram,
  MAX_SERIES,
  OTHER,
  type Snapshot,
  snapshots,
} from "../../../../services/shared/metrics/metrics.js";

async function snapshotOf(name: string): Promise<Snapshot> {
  const found = (await snapshots()).find((one) => one.name === name);
  if (found === undefined) throw new Error(`${name} is not counted`);
  return found;
}

test("counts, durations and readings become the text that Prometheus reads", async () => {
  const calls = counter("t_calls_total", "Calls.", ["tool", "outcome"]);
  calls.of("a", "ok").add();
  calls.of("a", "ok").add(2);
  calls.of('quote " and \\ and\nline', "ok").add();
  const took = histogram("t_took_seconds", "Time.", ["tool"], [0.1, 1]);
  for (const seconds of [0.05, 0.1, 0.5, 3]) took.of("a").add(seconds);
  const end = gauge("t_now", "Now.", []).read(() => [{ labels: [], value: 7 }]);
  const metrics = await Promise.all(["t_calls_total", "t_took_seconds", "t_now"].map(snapshotOf));
  end();
  expect(expositionOf([{ process: "main", metrics }])).toBe(
    [
      "# HELP t_calls_total Calls.",
      "# TYPE t_calls_total counter",
      't_calls_total{process="main",tool="a",outcome="ok"} 3',
      't_calls_total{process="main",tool="quote \\" and \\\\ and\\nline",outcome="ok"} 1',
      "# HELP t_took_seconds Time.",
      "# TYPE t_took_seconds histogram",
      't_took_seconds_bucket{process="main",tool="a",le="0.1"} 2',
      't_took_seconds_bucket{process="main",tool="a",le="1"} 3',
      't_took_seconds_bucket{process="main",tool="a",le="+Inf"} 4',
      't_took_seconds_sum{process="main",tool="a"} 3.65',
      't_took_seconds_count{process="main",tool="a"} 4',
      "# HELP t_now Now.",
      "# TYPE t_now gauge",
      't_now{process="main"} 7',
      "",
    ].join("\n"),
  );
});

test("the lines of a metric stand together, whichever process they are of", async () => {
  counter("t_together_total", "Together.", []).of().add();
  const metrics = [await snapshotOf("t_together_total")];
  const text = expositionOf([
    { process: "main", metrics },
    { process: "worker-0", metrics },
  ]);
  expect(text.split("\n").slice(2)).toEqual([
    't_together_total{process="main"} 1',
    't_together_total{process="worker-0"} 1',
    "",
  ]);
});

test("a metric has so many series, whatever callers send: what is beyond is counted together", async () => {
  const family = counter("t_many_total", "Many.", ["name", "kind"]);
  for (let i = 0; i < MAX_SERIES + 1_000; i++) family.of(`name ${i}`, "a").add();
  const { series } = await snapshotOf("t_many_total");
  expect(series).toHaveLength(MAX_SERIES + 1);
  expect(series.at(-1)).toEqual({ labels: [OTHER, OTHER], value: 1_000 });
  expect(family.of("name 0", "a").value).toBe(1);
});

test("a reading that fails or does not come is left out, and what several read is added up", async () => {
  const readings = gauge("t_readings", "Readings.", []);
  const ends = [
    readings.read(() => [{ labels: [], value: 2 }]),
    readings.read(async () => [{ labels: [], value: 3 }]),
    readings.read(() => {
      throw new Error("not now");
    }),
    readings.read(() => new Promise(() => undefined)),
  ];
  expect((await snapshotOf("t_readings")).series).toEqual([{ labels: [], value: 5 }]);
  for (const end of ends) end();
  expect((await snapshotOf("t_readings")).series).toEqual([]);
});
