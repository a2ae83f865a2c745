import { createServer, type Server } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { Code } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHttpClient, type HttpClient } from "../../../../services/platform-proxy/lib/http.js";
import { LOOPBACK } from "../../../support/outgoing.js";

let server: Server;
let port: number;
let asked: string[];
let names: Map<string, string[]>;
let client: HttpClient;

beforeEach(async () => {
  asked = [];
  server = createServer((req, res) => {
    asked.push(`${req.headers.host}${req.url}`);
    const elsewhere = req.url === "/moved";
    res.writeHead(elsewhere ? 302 : 200, elsewhere ? { location: "http://169.254.169.254/latest" } : {}).end("{}");
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  port = (server.address() as AddressInfo).port;
  names = new Map();
  const resolve: LookupFunction = (name, _options, done) => {
    const found = (names.get(name) ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    if (found.length === 0) done(new Error(`${name} is not known`), "");
    else done(null, found);
  };
  client = createHttpClient("sallyport/test", LOOPBACK, undefined, resolve);
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await client.close();
});

const send = (url: string, path = "/things") =>
  client.send(
    { target: { server: "cti", url }, signal: AbortSignal.timeout(20_000), tool: "ListThings" },
    { verb: "GET", path, read: true },
  );
const refused = {
  code: Code.FailedPrecondition,
  rawMessage: expect.stringMatching(
    /^the cti platform is not called: \S+ leads to a closed address .* to add \S+:\d+ to OUTGOING_ALLOW$/,
  ),
};

test("a name that led to a platform and then leads to metadata is not called", async () => {
  names.set("platform.example.com", ["127.0.0.1"]);
  expect((await send(`http://platform.example.com:${port}`)).status).toBe(200);
  names.set("platform.example.com", ["169.254.169.254"]);
  await expect(send(`http://platform.example.com:${port + 1}`)).rejects.toMatchObject(refused);
  names.set("other.example.com", ["::ffff:169.254.169.254", "fe80::1", "fd00:ec2::254"]);
  await expect(send(`http://other.example.com:${port}`)).rejects.toMatchObject(refused);
  expect(asked).toEqual([`platform.example.com:${port}/things`]);
});

test("of a name's addresses only those that a platform may have are dialled", async () => {
  names.set("platform.example.com", ["169.254.169.254", "fe80::1", "127.0.0.1"]);
  expect((await send(`http://platform.example.com:${port}`)).status).toBe(200);
});

test.each([
  "http://169.254.169.254",
  "http://2852039166",
  "http://[::ffff:a9fe:a9fe]",
  "http://[fd00:ec2::254]",
  "http://0.0.0.0",
  "http://[ff02::1]",
])("%s, whoever set it, is not called", async (url) => {
  await expect(send(url)).rejects.toMatchObject(refused);
});

test("a refused address is not tried again, and opens no breaker", async () => {
  for (let n = 0; n < 8; n++) await expect(send("http://169.254.169.254")).rejects.toMatchObject(refused);
});

test("a redirect is an answer, and is not followed", async () => {
  names.set("platform.example.com", ["127.0.0.1"]);
  expect((await send(`http://platform.example.com:${port}`, "/moved")).status).toBe(302);
  expect(asked).toEqual([`platform.example.com:${port}/moved`]);
});

test("a name that nobody knows is a platform that cannot be reached", async () => {
  await expect(send("http://nowhere.example.com")).rejects.toMatchObject({ code: Code.Unavailable });
});
