import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createOutgoingAgent } from "../../../../services/shared/outgoing/agent.js";
import { RefusedAddressError } from "../../../../services/shared/outgoing/guard.js";
import type { OutgoingPolicy } from "../../../../services/shared/outgoing/policy.js";
import { ProxyError } from "../../../../services/shared/outgoing/tunnel.js";

// A corporate proxy, on loopback: everything that is not listed goes through it.

let target: Server;
let proxy: Server;
let connects: string[];
let credentials: (string | undefined)[];
let refuses: boolean;
const portOf = (server: Server) => (server.address() as AddressInfo).port;
const listen = (server: Server) => new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));

beforeAll(async () => {
  target = createServer((req, res) => res.end(`${req.headers.host} ${req.url}`));
  proxy = createServer((_req, res) => res.writeHead(400).end());
  proxy.on("connect", (req, socket, head) => {
    connects.push(req.url as string);
    credentials.push(req.headers["proxy-authorization"]);
    if (refuses) return socket.end("HTTP/1.1 403 Forbidden\r\n\r\nno");
    // As a proxy does, it looks names up by itself: every one leads to the target.
    const up = connect(portOf(target), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      up.write(head);
      up.pipe(socket).pipe(up);
    });
    socket.on("error", () => up.destroy());
    up.on("error", () => socket.destroy());
  });
  await Promise.all([listen(target), listen(proxy)]);
});
afterAll(() => {
  for (const server of [target, proxy]) {
    server.closeAllConnections();
    server.close();
  }
});
beforeEach(() => {
  [connects, credentials, refuses] = [[], [], false];
});

async function call(url: string, allow: readonly string[] = [], user = ""): Promise<string> {
  const policy: OutgoingPolicy = { allow, proxy: `http://${user}127.0.0.1:${portOf(proxy)}` };
  const agent = createOutgoingAgent({ policy, connectMs: 2_000 });
  try {
    const { origin, pathname } = new URL(url);
    const { body } = await agent.request({ origin, path: pathname, method: "GET" });
    return await body.text();
  } finally {
    await agent.destroy();
  }
}

test("what is not listed goes through the proxy, by its name", async () => {
  expect(await call("http://models.example.com:8000/v1")).toBe("models.example.com:8000 /v1");
  expect(await call("http://models.example.com/v1")).toBe("models.example.com /v1");
  expect(connects).toEqual(["models.example.com:8000", "models.example.com:80"]);
  expect(credentials).toEqual([undefined, undefined]);
});

test("the proxy's user name and password go to the proxy", async () => {
  await call("http://models.example.com/", [], "us%40er:pass@");
  expect(credentials).toEqual([`Basic ${Buffer.from("us@er:pass").toString("base64")}`]);
});

test("what is listed is called directly", async () => {
  const port = portOf(target);
  for (const [host, allow] of [
    ["127.0.0.1", "127.0.0.0/8"],
    ["127.0.0.1", `127.0.0.1:${port}`],
    ["localhost", "127.0.0.1"],
    ["localhost", `localhost:${port}`],
  ] as const)
    expect(await call(`http://${host}:${port}/x`, [allow])).toBe(`${host}:${port} /x`);
  expect(connects).toEqual([]);
});

test.each([
  "127.0.0.1",
  "0x7f000001",
  "[::1]",
  "10.0.0.1",
  "169.254.169.254",
  "[::ffff:10.0.0.1]",
  "localhost",
  "metadata.google.internal",
])("the proxy is not asked for %s", async (host) => {
  await expect(call(`http://${host}:${portOf(target)}/`)).rejects.toBeInstanceOf(RefusedAddressError);
  expect(connects).toEqual([]);
});

test("a proxy that refuses, or is not there, is an error", async () => {
  refuses = true;
  await expect(call("http://models.example.com/")).rejects.toThrow(/answered 403 to CONNECT models\.example\.com:80/);
  const agent = createOutgoingAgent({ policy: { allow: [], proxy: "http://127.0.0.1:4" }, connectMs: 2_000 });
  await expect(
    agent.request({ origin: "https://models.example.com", path: "/", method: "GET" }),
  ).rejects.toBeInstanceOf(ProxyError);
  await agent.destroy();
});
