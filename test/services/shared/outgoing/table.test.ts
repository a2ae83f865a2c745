import { createServer, type Server } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHttpClient } from "../../../../services/platform-proxy/lib/http.js";
import {
  createBoundedFetch,
  createDispatcher,
  plainError,
} from "../../../../services/shared/isolation/apart/bounded-fetch.js";
import { createOutgoingAgent } from "../../../../services/shared/outgoing/agent.js";
import { type OutgoingPolicy, PUBLIC_ONLY } from "../../../../services/shared/outgoing/policy.js";
import { refusalNow } from "../../../../services/shared/outgoing/refusal-now.js";

// Every kind of address by every way out: refused with the same words, and called when it is listed.

let server: Server;
let port: number;
let asked: string[] = [];
const names = new Map<string, string[]>();
const resolve: LookupFunction = (name, _options, done) => {
  const found = (names.get(name) ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  if (found.length === 0) done(Object.assign(new Error(`${name} is not known`), { code: "ENOTFOUND" }), "");
  else done(null, found);
};

beforeAll(async () => {
  server = createServer((req, res) => {
    asked.push(`${req.headers.host}${req.url}`);
    if (req.url?.startsWith("/moved")) res.writeHead(302, { location: `http://10.0.0.1:${port}/inside` }).end();
    else res.end(JSON.stringify({ data: [{ index: 0, embedding: [1] }] }));
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** The ways out, each as its part of the product goes it: what came of a call. */
const KINDS: Readonly<Record<string, (url: string, policy: OutgoingPolicy) => Promise<string>>> = {
  async "a custom tool, a model, an embedder or an MCP server"(url, policy) {
    const dispatcher = createDispatcher(policy, resolve);
    return createBoundedFetch(dispatcher, { bytes: 10_000, depth: 8, nodes: 100 })(url)
      .then((answer) => `status ${answer.status}`)
      .catch((error) => plainError(error).message)
      .finally(() => dispatcher.destroy());
  },
  async "a platform"(url, policy) {
    const http = createHttpClient("sallyport/test", policy, undefined, resolve);
    const { origin, pathname } = new URL(url);
    const exchange = { target: { server: "aev", url: origin }, signal: AbortSignal.timeout(5_000), tool: "t" };
    return http
      .send(exchange, { verb: "GET", path: pathname, read: true })
      .then(({ status }) => `status ${status}`)
      .catch((error) => error.rawMessage.replace(/^.*is not called: /, ""))
      .finally(() => http.close());
  },
  async "what comes later"(url, policy) {
    const agent = createOutgoingAgent({ policy, connectMs: 1_000, resolve });
    const { origin, pathname } = new URL(url);
    return agent
      .request({ origin, path: pathname, method: "GET" })
      .then(async ({ statusCode, body }) => {
        await body.dump();
        return `status ${statusCode}`;
      })
      .catch((error) => error.message)
      .finally(() => agent.destroy());
  },
  async registration(url, policy) {
    return (await refusalNow(policy, url, resolve))?.message ?? "status 200";
  },
};

/** Hosts that lead to closed addresses, and how they are shown. */
const CLOSED: Readonly<Record<string, string>> = {
  "127.0.0.1": "127.0.0.1",
  "127.1.2.3": "127.1.2.3",
  localhost: "localhost",
  "api.localhost": "api.localhost",
  "[::1]": "[::1]",
  "10.0.0.1": "10.0.0.1",
  "172.31.255.255": "172.31.255.255",
  "192.168.0.1": "192.168.0.1",
  "100.64.0.1": "100.64.0.1",
  "[fd00::1]": "[fd00::1]",
  "2130706433": "127.0.0.1",
  "0x7f000001": "127.0.0.1",
  "0x7f.1": "127.0.0.1",
  "0177.0.0.01": "127.0.0.1",
  "127.0.0.1.": "127.0.0.1",
  "[::ffff:127.0.0.1]": "127.0.0.1",
  "[::ffff:7f00:1]": "127.0.0.1",
  "[0:0:0:0:0:ffff:a00:1]": "10.0.0.1",
  "[::127.0.0.1]": "[::7f00:1]",
  "[64:ff9b::7f00:1]": "127.0.0.1",
  "[64:ff9b::10.0.0.1]": "10.0.0.1",
  "[64:ff9b:1::a00:1]": "[64:ff9b:1::a00:1]",
  "[2002:7f00:1::]": "[2002:7f00:1::]",
  "[2001:0:7f00:1::]": "[2001:0:7f00:1::]",
  "169.254.169.254": "169.254.169.254",
  "[fe80::1]": "[fe80::1]",
  "[fd00:ec2::254]": "[fd00:ec2::254]",
  "100.100.100.200": "100.100.100.200",
  "metadata.google.internal": "metadata.google.internal",
  "METADATA.Google.Internal.": "metadata.google.internal",
  "0.0.0.0": "0.0.0.0",
  "[::]": "[::]",
  "224.0.0.1": "224.0.0.1",
  "[ff02::1]": "[ff02::1]",
  "255.255.255.255": "255.255.255.255",
  "192.0.2.1": "192.0.2.1",
  "198.18.0.1": "198.18.0.1",
  "[2001:db8::1]": "[2001:db8::1]",
  "[100::1]": "[100::1]",
  "private.example.com": "private.example.com",
  "mapped.example.com": "mapped.example.com",
  "both.example.com": "both.example.com",
};
names.set("private.example.com", ["10.1.2.3"]);
names.set("mapped.example.com", ["::ffff:127.0.0.1", "64:ff9b::a9fe:a9fe"]);
names.set("both.example.com", ["fe80::1%eth0", "127.0.0.1"]);
names.set("localhost", ["127.0.0.1"]);
names.set("api.localhost", ["127.0.0.1"]);

describe.each(Object.entries(KINDS))("%s", (_kind, call) => {
  test("is refused every closed address with the same words, whatever listens there", async () => {
    asked = [];
    const before = performance.now();
    for (const [host, shown] of Object.entries(CLOSED)) {
      for (const at of [port, 4]) {
        const words = `${shown} leads to a closed address (loopback, private, metadata or special-purpose): ask an administrator to add ${shown}:${at} to OUTGOING_ALLOW`;
        expect(await call(`http://${host}:${at}/x`, PUBLIC_ONLY), host).toBe(words);
      }
    }
    expect(asked).toEqual([]);
    // Refused before anything is dialled: no timeouts.
    expect(performance.now() - before).toBeLessThan(5_000);
  });

  test("is let through when the address or the name is listed, with its port or without, and at no other port", async () => {
    names.set("tool.example.com", ["127.0.0.1"]);
    for (const allow of ["127.0.0.1", `127.0.0.1:${port}`, "127.0.0.0/8", "::ffff:127.0.0.1", "0.0.0.0/0"]) {
      const policy = { allow: [allow], proxy: "" };
      for (const host of ["127.0.0.1", "tool.example.com", "0x7f.1"])
        expect(await call(`http://${host}:${port}/x`, policy), `${allow} ${host}`).toBe("status 200");
    }
    for (const allow of ["tool.example.com", `TOOL.example.com.:${port}`]) {
      const policy = { allow: [allow], proxy: "" };
      expect(await call(`http://tool.example.com:${port}/x`, policy), allow).toBe("status 200");
      expect(await call(`http://127.0.0.1:${port}/x`, policy), allow).toMatch(/a closed address/);
    }
    const elsewhere = { allow: [`127.0.0.1:${port + 1}`, "tool.example.com:1"], proxy: "" };
    expect(await call(`http://tool.example.com:${port}/x`, elsewhere)).toMatch(/a closed address/);
  });

  test("is let to metadata, link-local and the like by no range and no name", async () => {
    names.set("tool.example.com", ["169.254.169.254"]);
    const policy = { allow: ["0.0.0.0/0", "::/0", "169.254.0.0/16", "tool.example.com"], proxy: "" };
    for (const host of ["169.254.169.254", "tool.example.com", "100.100.100.200", "[fe80::1]", "[2002:7f00:1::]"])
      expect(await call(`http://${host}:${port}/x`, policy), host).toMatch(/a closed address/);
  });
});

describe.each(Object.entries(KINDS).filter(([kind]) => kind !== "registration"))("%s", (_kind, call) => {
  test("dials the address that was checked: a name that changes between two look-ups leads nowhere else", async () => {
    asked = [];
    let looked = 0;
    const original = names.get;
    names.get = (name) =>
      name === "rebinding.example.com" ? [looked++ === 0 ? "10.0.0.1" : "127.0.0.1"] : original.call(names, name);
    expect(await call(`http://rebinding.example.com:${port}/x`, PUBLIC_ONLY)).toMatch(/a closed address/);
    names.get = original;
    expect([looked, asked]).toEqual([1, []]);
  });

  test("follows no redirect", async () => {
    asked = [];
    const said = await call(`http://127.0.0.1:${port}/moved`, { allow: ["127.0.0.1"], proxy: "" });
    expect(said).toMatch(/status 302/);
    expect(asked.map((one) => one.replace(/\/embeddings$/, ""))).toEqual([`127.0.0.1:${port}/moved`]);
  });
});

test("public addresses are open, also as NAT64 writes them", async () => {
  for (const host of ["8.8.8.8", "[2606:4700::1111]", "[64:ff9b::808:808]", "[::ffff:8.8.8.8]", "172.32.0.1"])
    expect(await refusalNow(PUBLIC_ONLY, `https://${host}/`, resolve), host).toBeUndefined();
});
