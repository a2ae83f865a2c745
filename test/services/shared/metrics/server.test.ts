import { request } from "node:http";
import { afterEach, expect, test } from "vitest";
import { type MetricsServer, serveMetrics } from "../../../../services/shared/metrics/server.js";

let server: MetricsServer | undefined;
afterEach(() => server?.close());

function asked(port: number, path: string, method = "GET"): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, method, agent: false }, (reply) => {
      let text = "";
      reply.setEncoding("utf8").on("data", (some: string) => {
        text += some;
      });
      const { statusCode: status = 0, headers } = reply;
      reply.on("end", () => resolve({ status, type: headers["content-type"] ?? "", text }));
    });
    sent.on("error", reject).end();
  });
}

test("it serves metrics, and says whether the service can serve, and why not", async () => {
  let reasons: string[] = [];
  let looks = 0;
  server = await serveMetrics({
    host: "127.0.0.1",
    port: 0,
    ready: async () => reasons,
    take: async () => {
      looks++;
      await new Promise((resolve) => setTimeout(resolve, 50));
      const series = [{ labels: [], value: 1 }];
      return [{ process: "main", metrics: [{ name: "a_total", help: "A.", type: "counter", labels: [], series }] }];
    },
  });
  const { port } = server;
  const both = await Promise.all([asked(port, "/metrics"), asked(port, "/metrics?x=1")]);
  for (const { status, type, text } of both) {
    expect({ status, type }).toEqual({ status: 200, type: "text/plain; version=0.0.4; charset=utf-8" });
    expect(text).toContain('a_total{process="main"} 1\n');
  }
  expect(looks).toBe(1);
  expect((await asked(port, "/healthz")).text).toBe('{"status":"ok"}');
  expect(await asked(port, "/readyz")).toMatchObject({ status: 200, text: '{"status":"ready"}' });
  reasons = ["the disk is full"];
  expect(await asked(port, "/readyz")).toMatchObject({
    status: 503,
    text: '{"status":"not_ready","reasons":["the disk is full"]}',
  });
  expect((await asked(port, "/metrics", "POST")).status).toBe(405);
  expect((await asked(port, "/mcp/cti")).status).toBe(404);
});

test("a look that fails is answered, and the next one is made", async () => {
  let fails = true;
  server = await serveMetrics({
    host: "127.0.0.1",
    port: 0,
    ready: async () => [],
    take: async () => {
      if (fails) throw new Error("not now");
      return [];
    },
  });
  expect((await asked(server.port, "/metrics")).status).toBe(503);
  fails = false;
  expect((await asked(server.port, "/metrics")).status).toBe(200);
});
