// What the plots of a page are drawn with: the page has uPlot before it, and the page's own plots after it.

(() => {
  /** Draws lines, each of a name and its values, in the element with an id. */
  function plot(id, x, lines, { yLabel, isLog, xLabel, log10X, xValues, xValue }) {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(`--${name}`).trim();
    const axis = (more) => ({
      stroke: color("text"),
      grid: { stroke: color("line"), width: 1 },
      ticks: { stroke: color("line"), width: 1 },
      ...more,
    });
    const number = (value) => (value == null ? "" : Number(value.toPrecision(4)).toLocaleString("en"));
    /** A logarithmic axis has no 0. */
    const above0 = (values) => values.map((value) => (value > 0 ? value : null));
    const place = document.getElementById(id);
    const size = () => ({ width: place.clientWidth, height: 300 });
    const options = {
      ...size(),
      scales: {
        x: { time: false, ...(log10X && { distr: 3 }) },
        y: isLog ? { distr: 3 } : { range: (_, __, max) => [0, Math.max(1, max * 1.05)] },
      },
      axes: [axis({ label: xLabel, ...(xValues && { values: xValues }) }), axis({ label: yLabel, size: 70 })],
      series: [
        { label: xLabel, value: xValue ?? ((_, value) => number(value)) },
        ...lines.map(({ name }, i) => ({
          label: name,
          stroke: color(String((i % 8) + 1)),
          width: 2,
          points: { show: x.length < 3 },
          value: (_, value) => number(value),
        })),
      ],
    };
    const drawn = new uPlot(options, [x, ...lines.map(({ values }) => (isLog ? above0(values) : values))], place);
    addEventListener("resize", () => drawn.setSize(size()));
  }

  // 90 %, 99 % and 99.9 % are as far from each other: x is 1 for every request, 10 for every tenth, and so on.
  /** Draws lines over percentages below 100. */
  function plotPercentiles(id, percentages, lines, yLabel) {
    const percent = (value) => `${Number((100 - 100 / value).toFixed(5))} %`;
    const oneIn = percentages.map((percentage) => 100 / (100 - percentage));
    plot(id, oneIn, lines, {
      xLabel: "percentile",
      yLabel,
      isLog: true,
      log10X: true,
      xValues: (_, values) =>
        values.map((value) => (value == null || Math.log10(value) % 1 !== 0 ? "" : percent(value))),
      xValue: (_, value) => (value == null ? "" : percent(value)),
    });
  }

  Object.assign(globalThis, { plot, plotPercentiles });
})();
