import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EXPOSITION_TYPE, expositionOf, type ProcessSnapshots } from "./exposition.js";

/** Where metrics are served, and what of. */
export interface MetricsOptions {
  readonly host: string;
  readonly port: number;
  /** What each process of this service counted. */
  readonly take: () => Promise<readonly ProcessSnapshots[]>;
  /** Why the service cannot serve; empty when it can. */
  readonly ready: () => Promise<readonly string[]>;
}

/** Serves metrics. */
export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Connections of those who read metrics. */
const MAX_CONNECTIONS = 64;

/**
 * Serves `GET /metrics`, and with it `/healthz` and `/readyz`, on a port that no client of the service uses. Who asks
 * is not asked who they are: the port is for the network of the operators.
 *
 * @throws Error in one line, where the port cannot be had.
 */
export async function serveMetrics({ host, port, take, ready }: MetricsOptions): Promise<MetricsServer> {
  let taking: Promise<string> | undefined;
  /** One look for all who ask at the same time. */
  const text = (): Promise<string> => {
    taking ??= take()
      .then(expositionOf)
      .finally(() => {
        taking = undefined;
      });
    return taking;
  };
  const pages: Readonly<Record<string, (response: ServerResponse) => Promise<void> | void>> = {
    "/metrics": async (response) => answer(response, 200, EXPOSITION_TYPE, await text()),
    "/healthz": (response) => json(response, 200, { status: "ok" }),
    "/readyz": async (response) => {
      const reasons = await ready();
      if (reasons.length === 0) json(response, 200, { status: "ready" });
      else json(response, 503, { status: "not_ready", reasons });
    },
  };

  const server = createServer((request, response) => {
    const page = pages[(request.url ?? "").split("?", 1)[0] as string];
    if (page === undefined) return json(response, 404, { error: "the pages are /metrics, /healthz and /readyz" });
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD");
      return json(response, 405, { error: "the page takes only GET" });
    }
    Promise.resolve(page(response)).catch(() => json(response, 503, { error: "the metrics cannot be read" }));
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.listen({ host, port });
  try {
    await once(server, "listening");
  } catch (error) {
    throw new Error(`cannot listen on ${host}:${port} (metrics port): ${(error as Error).message}`);
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function json(response: ServerResponse, status: number, body: object): void {
  answer(response, status, "application/json", JSON.stringify(body));
}

function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(body);
}
