// Draws the plots of a result; the page has uPlot and the result before it.

(() => {
  const { groups, latencies } = JSON.parse(document.getElementById("report").textContent);
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(`--${name}`).trim();
  const axis = (more) => ({
    stroke: color("text"),
    grid: { stroke: color("line"), width: 1 },
    ticks: { stroke: color("line"), width: 1 },
    ...more,
  });
  const number = (value) => (value == null ? "" : Number(value.toPrecision(3)).toLocaleString("en"));

  function plot(id, x, series, { xLabel, yLabel, xValues, xValue, log10X }) {
    const place = document.getElementById(id);
    const size = () => ({ width: place.clientWidth, height: 240 });
    const options = {
      ...size(),
      scales: { x: { time: false, ...(log10X && { distr: 3 }) }, y: { distr: 3 } },
      axes: [axis({ label: xLabel, values: xValues }), axis({ label: yLabel, size: 70 })],
      series: [
        { label: xLabel, value: xValue ?? ((_, value) => number(value)) },
        ...series.map(({ name }, i) => ({
          label: name,
          stroke: color(String((i % 8) + 1)),
          width: 2,
          value: (_, value) => number(value),
        })),
      ],
    };
    const drawn = new uPlot(options, [x, ...series.map(({ values }) => values)], place);
    addEventListener("resize", () => drawn.setSize(size()));
  }

  groups.forEach(({ rows }, i) => {
    const rounds = rows[0].turns.map((_, round) => round + 1);
    const series = rows.map(({ name, turns }) => ({ name, values: turns.map(({ cpu }) => cpu) }));
    plot(`group-${i}`, rounds, series, {
      xLabel: "round",
      yLabel: "µs of CPU",
      xValues: (_, values) => values.map((value) => (Number.isInteger(value) ? String(value) : "")),
    });
  });

  // 90 %, 99 % and 99.9 % are as far from each other: x is 1 for every request, 10 for every tenth, and so on.
  const percent = (value) => `${Number((100 - 100 / value).toFixed(4))} %`;
  latencies.forEach(({ rows }, i) => {
    const { percentages } = rows[0].runs[0].curve;
    const below = percentages.filter((one) => one < 100);
    const oneIn = below.map((one) => 100 / (100 - one));
    const middle = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
    const series = rows.map(({ name, runs }) => ({
      name,
      values: below.map((_, at) => middle(runs.map(({ curve }) => Math.max(0.001, curve.ms[at] ?? 0.001)))),
    }));
    plot(`latency-${i}`, oneIn, series, {
      xLabel: "percentile",
      yLabel: "ms",
      log10X: true,
      xValues: (_, values) =>
        values.map((value) => (value == null || Math.log10(value) % 1 !== 0 ? "" : percent(value))),
      xValue: (_, value) => (value == null ? "" : percent(value)),
    });
  });
})();
