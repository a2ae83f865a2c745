import { gauge, snapshots } from "../shared/metrics/metrics.js";
import { countProcess } from "../shared/metrics/process.js";
import { type MetricsServer, serveMetrics } from "../shared/metrics/server.js";
import { reservePort } from "./ports.js";
import type { Workers } from "./workers.js";

const serving = gauge("sallyport_workers", "Façade workers in processes of their own that answer.", []);
const wanted = gauge("sallyport_workers_wanted", "WORKERS, if they run in processes of their own.", []);

/** What is known of this process and its workers. */
export interface Measured {
  readonly host: string;
  readonly port: number;
  readonly ready: () => Promise<readonly string[]>;
  readonly workers: Workers | undefined;
}

/**
 * Serves the metrics of this process and of its workers.
 *
 * @throws Error in one line, where the port cannot be had.
 */
export async function startMetrics({ host, port, ready, workers }: Measured): Promise<MetricsServer> {
  const server = await serveMetrics({
    host,
    port: await reservePort(host, port, "metrics port"),
    ready,
    async take() {
      const [own, others] = await Promise.all([snapshots(), workers?.metrics() ?? []]);
      return [{ process: "main", metrics: own }, ...others];
    },
  });
  const ends = [
    countProcess(ready),
    ...(workers === undefined
      ? []
      : [
          serving.read(() => [{ labels: [], value: workers.serving() }]),
          wanted.read(() => [{ labels: [], value: workers.count }]),
        ]),
  ];
  return {
    port: server.port,
    async close() {
      for (const end of ends) end();
      await server.close();
    },
  };
}
