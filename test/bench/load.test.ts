import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { load, requestBytes } from "./load.js";

describe("load", () => {
  const RUN_MS = 200;
  const arrivals: number[] = [];
  let server: Server;
  let port: number;
  beforeAll(async () => {
    server = createServer((_request, response) => {
      arrivals.push(performance.now());
      response.end("{}");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => {
    server.close();
  });

  const requests = [requestBytes("/", {}, "{}")];

  it("sends the next request of a connection after a pause", async () => {
    arrivals.length = 0;
    const answers = await load({ port, requests, connections: 1, pauseUs: 20_000 }, RUN_MS);
    expect(answers).toBe(arrivals.length);
    expect(answers).toBeGreaterThan(1);
    const apart = arrivals.slice(1).map((at, i) => at - (arrivals[i] as number));
    expect(Math.min(...apart)).toBeGreaterThan(19);
  });

  it("sends at once without one, over each connection", async () => {
    arrivals.length = 0;
    const answers = await load({ port, requests, connections: 3 }, RUN_MS);
    expect(answers).toBe(arrivals.length);
    expect(answers).toBeGreaterThan((3 * RUN_MS) / 20);
  });

  it("fails if an answer has another status", async () => {
    await expect(load({ port, requests, connections: 1, status: 401 }, RUN_MS)).rejects.toThrow(
      "an answer has status 200 instead of 401",
    );
  });
});
