import { afterEach, expect, test } from "vitest";
import type { FacadeOptions } from "../../../facade/facade.js";
import { legacy, modern, post } from "../support/client.js";
import { onEachEdge } from "../support/edges.js";
import { type RawSocket, raw, requestText } from "../support/raw.js";
import { CTI, LIMITS, type Started } from "../support/start.js";

onEachEdge(({ start }) => {
  // Nobody takes the slots of others: not by sending slowly without a key, not by
  // waiting to be verified, and not with a key of their own.

  const IN_FLIGHT = 8;
  const MANY = 5 * IN_FLIGHT;

  let server: Started;
  let sockets: RawSocket[] = [];

  async function begin(limits: Partial<FacadeOptions["limits"]> = {}, options: Partial<FacadeOptions> = {}) {
    server = await start({ limits: { ...LIMITS, inFlight: IN_FLIGHT, ...limits }, ...options });
    server.keys.add("other", { scopes: CTI });
  }

  afterEach(async () => {
    for (const { socket } of sockets) socket.destroy();
    sockets = [];
    await server.close();
  });

  /** Opens connections whose requests say a length and send but a beginning. */
  function openSlow(count: number, path: string, headers: readonly string[]): RawSocket[] {
    const lines = ["host: 127.0.0.1", "content-type: application/json", "content-length: 60000", ...headers];
    const opened = Array.from({ length: count }, () => raw(server.port, requestText(path, lines, "{")));
    sockets.push(...opened);
    return opened;
  }

  const LIST = modern("tools/list");
  const ask = (token: string, more: Record<string, string> = {}) =>
    post(`${server.url}/mcp/cti`, LIST.body, { ...LIST.headers, authorization: `Bearer ${token}`, ...more });
  const statusOf = ({ text }: RawSocket) => Number(text().slice(9, 12));

  const MCP = "/base/mcp/cti";
  const RPC = "/base/rpc/cti.fixture.v1.SightingService/EchoSighting";

  test.each([
    ["without a token", MCP, []],
    ["with the name of a variable for a token", MCP, ["authorization: Bearer $KEY"]],
    ["with an unknown token", MCP, ["authorization: Bearer unknown"]],
    ["from another web page", MCP, ["origin: https://evil.example.com", "authorization: Bearer good"]],
    ["to an endpoint that is not there", "/base/mcp/none", []],
    ["to a page that is not there", "/nothing", []],
    ["to /rpc without a token", RPC, []],
    ["to /rpc with an unknown token", RPC, ["authorization: Bearer unknown"]],
    ["to register without a token", "/base/api/v1/platform/register", []],
    ["to register with an unknown token", "/base/api/v1/platform/register", ["authorization: Bearer unknown"]],
  ])("slow bodies %s take no slot of others", async (_what, path, headers) => {
    await begin();
    await ask("good");
    openSlow(MANY, path, headers);
    // They are there once the last of as many that are answered at once is.
    for (let i = 0; i < MANY; i++) {
      expect([(await ask("good")).status, i]).toEqual([200, i]);
    }
    expect((await ask("other")).status).toBe(200);
  });

  test("those who wait to be verified take no slot of those who are known", async () => {
    await begin();
    await ask("good");
    let verified = (): void => undefined;
    server.keys.delay = new Promise((resolve) => {
      verified = resolve;
    });
    const waiting = openSlow(MANY, MCP, ["authorization: Bearer unknown"]);
    await expect
      .poll(() => waiting.filter((one) => statusOf(one) === 503).length, { timeout: 15_000 })
      .toBe(MANY - (IN_FLIGHT * 3) / 4);
    expect(waiting.find((one) => statusOf(one) === 503)?.text()).toMatch(/retry-after: 2/i);
    expect((await ask("good")).status).toBe(200);
    verified();
  });

  test("a key has its share of the slots, and is told when to try again", async () => {
    await begin();
    const wait = (name: string) => {
      const { body, headers } = modern("tools/call", { name: "wait_for_sighting", arguments: { name } });
      return post(`${server.url}${MCP.slice(5)}`, body, headers).catch(() => undefined);
    };
    const waiting = [wait("a"), wait("b")];
    await expect.poll(() => server.world.waiting.size).toBe(2);
    const { status, headers, json } = await ask("good");
    expect([status, headers.get("retry-after"), json.error.data.error, json.id]).toEqual([
      429,
      "1",
      "too_many_requests",
      1,
    ]);
    expect((await ask("other")).status).toBe(200);
    const rpc = await post(`${server.url}${RPC.slice(5)}`, {}, {});
    expect([rpc.status, rpc.headers.get("retry-after"), rpc.json.code]).toEqual([429, "1", "resource_exhausted"]);
    await server.close();
    await Promise.all(waiting);
  });

  test("an address has its share of the slots, whatever keys it has", async () => {
    await begin({}, { proxies: 1 });
    const names = Array.from({ length: IN_FLIGHT }, (_, i) => `key-${i}`);
    for (const name of names) server.keys.add(name, { scopes: CTI });
    const waiting = names.map((name) => {
      const { body, headers } = modern("tools/call", { name: "wait_for_sighting", arguments: { name } });
      const as = { ...headers, authorization: `Bearer ${name}`, "x-forwarded-for": "198.51.100.1" };
      return post(`${server.url}/mcp/cti`, body, as).catch(() => undefined);
    });
    // A quarter before it is crowded, and half of all from then on.
    await expect.poll(() => server.world.waiting.size).toBe((IN_FLIGHT * 3) / 4);
    expect((await ask("good", { "x-forwarded-for": "198.51.100.1" })).status).toBe(429);
    expect((await ask("good", { "x-forwarded-for": "198.51.100.2" })).status).toBe(200);
    await server.close();
    await Promise.all(waiting);
  });

  test("slow bodies of a key take its share, and have a clock", async () => {
    await begin({ bodyMs: 2_000 });
    await ask("good");
    const slow = openSlow(MANY, MCP, ["authorization: Bearer good"]);
    const share = IN_FLIGHT / 4;
    await expect.poll(() => slow.filter((one) => statusOf(one) === 429).length, { timeout: 15_000 }).toBe(MANY - share);
    expect((await ask("other")).status).toBe(200);
    await expect
      .poll(() => slow.filter((one) => statusOf(one) === 408 && one.closed()).length, { timeout: 15_000 })
      .toBe(share);
    expect((await ask("good")).status).toBe(200);
  });

  test("a body that does not end is answered and its connection closed", async () => {
    await begin({ bodyMs: 200 });
    await ask("good");
    const kinds = [
      ["/mcp", MCP, "authorization: Bearer good", 408],
      ["/rpc", RPC, "authorization: Bearer good", 408],
      ["registration", "/base/api/v1/platform/register", "authorization: Bearer registration", 408],
      ["a refused body on /mcp", MCP, "authorization: Bearer unknown", 401],
    ] as const;
    // All at once: the parser leaves who is still sending some seconds to read the answer.
    const told = await Promise.all(
      kinds.map(async ([what, path, header]) => {
        const [slow] = openSlow(1, path, [header]);
        await (slow as RawSocket).ended;
        return [what, statusOf(slow as RawSocket)];
      }),
    );
    expect(told).toEqual(kinds.map(([what, , , status]) => [what, status]));
  });

  test("a call that a legacy client left behind counts until it ends, and so does each of a batch", async () => {
    await begin();
    const call = (name: string) => ({
      jsonrpc: "2.0",
      id: name,
      method: "tools/call",
      params: { name: "wait_for_sighting", arguments: { name } },
    });
    const aborter = new AbortController();
    const left = fetch(`${server.url}/mcp/cti`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: "Bearer good",
        "mcp-protocol-version": "2025-03-26",
      },
      body: JSON.stringify(["a", "b"].map(call)),
      signal: aborter.signal,
    }).catch(() => undefined);
    await expect.poll(() => server.world.waiting.size).toBe(2);
    aborter.abort();
    await left;
    const { body, headers } = legacy("tools/call", { name: "count_sightings", arguments: { steps: 1, step_ms: 1 } });
    const { json } = await post(`${server.url}/mcp/cti`, body, headers);
    expect(json.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("too many calls") }],
    });
    const other = await post(`${server.url}/mcp/cti`, body, { ...headers, authorization: "Bearer other" });
    expect(other.json.result.isError).not.toBe(true);
  });

  test("who hangs up while its token is verified is noticed at once", async () => {
    await begin();
    let verified = (): void => undefined;
    server.keys.delay = new Promise((resolve) => {
      verified = resolve;
    });
    const share = (IN_FLIGHT * 3) / 4;
    const gone = openSlow(share, MCP, ["authorization: Bearer unknown"]);
    await expect.poll(() => server.keys.verified.length).toBe(share);
    for (const { socket } of gone) socket.destroy();
    const waits = await new Promise<string>((resolve) => {
      const attempt = () => {
        const [one] = openSlow(1, MCP, ["authorization: Bearer unknown"]);
        setTimeout(() => ((one as RawSocket).text() === "" ? resolve("waits") : attempt()), 100);
      };
      attempt();
    });
    expect(waits).toBe("waits");
    verified();
  });

  test("beyond so many connections one more is closed as it comes", async () => {
    await begin({ connections: 3 });
    const open = Array.from({ length: 3 }, () =>
      raw(server.port, requestText("/healthz", ["host: 127.0.0.1"], "", "GET")),
    );
    sockets.push(...open);
    for (const { text } of open) await expect.poll(text).toMatch(/200 OK/);
    expect(await raw(server.port, requestText("/healthz", ["host: 127.0.0.1"], "", "GET")).ended).toBe("");
    (open[0] as RawSocket).socket.destroy();
    await expect
      .poll(() => raw(server.port, requestText("/healthz", ["host: 127.0.0.1", "connection: close"], "", "GET")).ended)
      .toMatch(/200 OK/);
  });
});
