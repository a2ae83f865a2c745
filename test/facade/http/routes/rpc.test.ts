import { afterEach, beforeEach, expect, test } from "vitest";
import { onEachEdge } from "../../support/edges.js";
import { LIMITS, type Started } from "../../support/start.js";

onEachEdge(({ start }) => {
  let server: Started;

  beforeEach(async () => {
    server = await start({ proxies: 1, limits: { ...LIMITS, badTokens: 2 } });
  });
  afterEach(() => server.close());

  async function call(token: string, from: string) {
    const reply = await fetch(`${server.url}/rpc/platform.conformance.v1.ConformanceService/TestSimpleText`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}`, "x-forwarded-for": from },
      body: "{}",
    });
    return ((await reply.json()) as { message?: string }).message ?? "";
  }

  test("failed credentials count against the client, not against the proxy before us", async () => {
    for (const token of ["bad-1", "bad-2"]) expect(await call(token, "192.0.2.1")).toContain("is not accepted");
    expect(await call("bad-3", "192.0.2.1")).toContain("too many invalid credentials");
    expect(await call("bad-3", "192.0.2.2")).toContain("is not accepted");
  });

  test("a key that was verified before works from an address that has tried too many bad ones", async () => {
    await call("good", "192.0.2.2");
    for (const token of ["bad-1", "bad-2"]) await call(token, "192.0.2.1");
    expect(await call("bad-3", "192.0.2.1")).toContain("too many invalid credentials");
    const told = await call("good", "192.0.2.1");
    expect(told).not.toContain("too many");
    expect(told).not.toContain("not accepted");
  });
});
