import { readdirSync } from "node:fs";
import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks";
import { VERSION } from "../process/version.js";
import { type Gauge, gauge, type Reading } from "./metrics.js";

const one = (value: number): Reading => [{ labels: [], value }];

const READINGS: readonly (readonly [Gauge, () => Reading])[] = [
  [
    gauge("process_start_time_seconds", "When the process started, in seconds since 1970.", []),
    () => one(Math.round(Date.now() - process.uptime() * 1_000) / 1_000),
  ],
  [
    gauge("process_cpu_seconds_total", "Processor time that the process has taken.", []),
    () => one(process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6),
  ],
  [
    gauge("process_resident_memory_bytes", "Memory of the process, with mapped pages of the store.", []),
    () => one(process.memoryUsage.rss()),
  ],
  [gauge("process_pid", "The process id.", []), () => one(process.pid)],
  [gauge("process_open_fds", "Open file descriptors.", []), () => openFiles()],
  [gauge("nodejs_heap_size_used_bytes", "Heap that is in use.", []), () => one(process.memoryUsage().heapUsed)],
  [
    gauge("nodejs_external_memory_bytes", "Memory outside the heap that the heap refers to.", []),
    () => one(process.memoryUsage().external),
  ],
  [
    gauge("sallyport_build_info", "1, with the version of the service and of Node.", ["version", "node"]),
    () => [{ labels: [VERSION, process.version], value: 1 }],
  ],
];

const delays = gauge(
  "nodejs_eventloop_delay_seconds",
  "How late the event loop was since the last time this was read, by percentile.",
  ["percentile"],
);
const collecting = gauge("nodejs_gc_seconds_total", "Time that garbage collection has taken.", []);

const readiness = gauge("sallyport_ready", "1 if the process can serve, otherwise 0: /readyz has the reasons.", []);

/** Counts what the process itself takes, from now on, and whether it can serve. Returns the end of it. */
export function countProcess(ready: () => Promise<readonly string[]>): () => void {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  let collected = 0;
  const watching = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) collected += duration;
  });
  watching.observe({ entryTypes: ["gc"] });
  const ends = [
    ...READINGS.map(([metric, read]) => metric.read(read)),
    readiness.read(async () => one((await ready()).length === 0 ? 1 : 0)),
    collecting.read(() => one(collected / 1_000)),
    delays.read(() => {
      // An idle loop is as late as the resolution: that is not late.
      const late = (nanos: number): number => Math.max(0, nanos - 10e6) / 1e9;
      const read = [50, 99, 100].map((percentile) => ({
        labels: [String(percentile)],
        value: delay.count === 0 ? 0 : late(delay.percentile(percentile)),
      }));
      delay.reset();
      return read;
    }),
  ];
  return () => {
    delay.disable();
    watching.disconnect();
    for (const end of ends) end();
  };
}

function openFiles(): Reading {
  try {
    return one(readdirSync("/proc/self/fd").length);
  } catch {
    // Only Linux has it.
    return [];
  }
}
