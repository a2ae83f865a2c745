// Draws the plots of a report; the page has uPlot and the report before it.

(() => {
  const { points, curve } = JSON.parse(document.getElementById("report").textContent);
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(`--${name}`).trim();
  const axis = (more) => ({
    stroke: color("text"),
    grid: { stroke: color("line"), width: 1 },
    ticks: { stroke: color("line"), width: 1 },
    ...more,
  });
  const number = (value) => (value == null ? "" : Number(value.toPrecision(4)).toLocaleString("en"));
  const seriesOf = (names) =>
    names.map((label, i) => ({
      label,
      stroke: color(String((i % 8) + 1)),
      width: 2,
      points: { show: points.length < 3 },
      value: (_, value) => number(value),
    }));
  /** A logarithmic axis has no 0. */
  const above0 = (values) => values.map((value) => (value > 0 ? value : null));

  function plot(id, x, names, data, { xLabel, yLabel, isLog, log10X, xValues, xValue }) {
    const place = document.getElementById(id);
    const options = {
      width: place.clientWidth,
      height: 300,
      scales: {
        x: { time: false, ...(log10X && { distr: 3 }) },
        y: isLog ? { distr: 3 } : { range: (_, __, max) => [0, Math.max(1, max * 1.05)] },
      },
      axes: [axis({ label: xLabel, ...(xValues && { values: xValues }) }), axis({ label: yLabel, size: 70 })],
      series: [{ label: xLabel, value: xValue ?? ((_, value) => number(value)) }, ...seriesOf(names)],
    };
    const drawn = new uPlot(options, [x, ...data.map((values) => (isLog ? above0(values) : values))], place);
    addEventListener("resize", () => drawn.setSize({ width: place.clientWidth, height: 300 }));
  }

  const seconds = points.map(({ second }) => second);
  const lengths = seconds.map((second, i) => second - (seconds[i - 1] ?? 0));
  const rate = (of) => points.map((point, i) => point[of] / Math.max(lengths[i], 0.001));
  const overTime = { xLabel: "seconds" };
  plot("rate", seconds, ["due", "answered", "failed"], [rate("due"), rate("good"), rate("failed")], {
    ...overTime,
    yLabel: "requests per second",
  });
  const of = (name) => points.map((point) => point[name]);
  plot("latency", seconds, ["p50", "p99", "max"], [of("p50Ms"), of("p99Ms"), of("maxMs")], {
    ...overTime,
    yLabel: "latency, ms",
    isLog: true,
  });
  plot("queue", seconds, ["under way", "waiting for a connection"], [of("inFlight"), of("waiting")], {
    ...overTime,
    yLabel: "requests",
  });
  // 90 %, 99 % and 99.9 % are as far from each other: x is 1 for every request, 10 for every tenth, and so on.
  const last = curve.percentages.at(-2) ?? 0;
  const oneIn = curve.percentages.map((p) => 100 / (100 - Math.min(p, last + (100 - last) / 2)));
  const percent = (value) => `${Number((100 - 100 / value).toFixed(5))} %`;
  plot(
    "curve",
    oneIn,
    curve.series.map(({ name }) => name),
    curve.series.map(({ ms }) => ms),
    {
      xLabel: "percentile",
      yLabel: "latency, ms",
      isLog: true,
      log10X: true,
      xValues: (_, values) =>
        values.map((value) => (value == null || Math.log10(value) % 1 !== 0 ? "" : percent(value))),
      xValue: (_, value) => (value == null ? "" : percent(value)),
    },
  );
})();
