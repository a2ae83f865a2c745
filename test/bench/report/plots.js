// Draws the plots of a result; the page has drawing.js of the load report and the result before it.

(() => {
  const { groups, latencies } = JSON.parse(document.getElementById("report").textContent);
  groups.forEach(({ rows }, i) => {
    const rounds = rows[0].turns.map((_, round) => round + 1);
    const lines = rows.map(({ name, turns }) => ({ name, values: turns.map(({ cpu }) => cpu) }));
    plot(`group-${i}`, rounds, lines, {
      xLabel: "round",
      yLabel: "µs of CPU",
      isLog: true,
      xValues: (_, values) => values.map((value) => (Number.isInteger(value) ? String(value) : "")),
    });
  });
  latencies.forEach(({ rows }, i) => {
    const { percentages } = rows[0].runs[0].curve;
    const below = percentages.filter((one) => one < 100);
    const middle = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
    const lines = rows.map(({ name, runs }) => ({
      name,
      values: below.map((_, at) => middle(runs.map(({ curve }) => Math.max(0.001, curve.ms[at] ?? 0.001)))),
    }));
    plotPercentiles(`latency-${i}`, below, lines, "ms");
  });
})();
