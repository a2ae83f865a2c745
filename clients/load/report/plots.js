// Draws the plots of a report; the page has drawing.js and the report before it.

(() => {
  const { points, curve } = JSON.parse(document.getElementById("report").textContent);
  const seconds = points.map(({ second }) => second);
  const lengths = seconds.map((second, i) => second - (seconds[i - 1] ?? 0));
  const rate = (of) => points.map((point, i) => point[of] / Math.max(lengths[i], 0.001));
  const of = (name) => points.map((point) => point[name]);
  const rates = [
    { name: "due", values: rate("due") },
    { name: "answered", values: rate("good") },
    { name: "failed", values: rate("failed") },
  ];
  plot("rate", seconds, rates, { xLabel: "seconds", yLabel: "requests per second" });
  const latencies = [
    { name: "p50", values: of("p50Ms") },
    { name: "p99", values: of("p99Ms") },
    { name: "max", values: of("maxMs") },
  ];
  plot("latency", seconds, latencies, { xLabel: "seconds", yLabel: "latency, ms", isLog: true });
  const queues = [
    { name: "under way", values: of("inFlight") },
    { name: "waiting for a connection", values: of("waiting") },
  ];
  plot("queue", seconds, queues, { xLabel: "seconds", yLabel: "requests" });
  // The last one, 100 %, is drawn half way after the one before.
  const last = curve.percentages.at(-2) ?? 0;
  const percentages = curve.percentages.map((one) => Math.min(one, last + (100 - last) / 2));
  const series = curve.series.map(({ name, ms }) => ({ name, values: ms }));
  plotPercentiles("curve", percentages, series, "latency, ms");
})();
