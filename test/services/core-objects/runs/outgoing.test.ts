import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type LookupFunction } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createBoundedFetch,
  createDispatcher,
  plainError,
} from "../../../../services/shared/isolation/apart/bounded-fetch.js";
import { LOOPBACK } from "../../../support/outgoing.js";

// How models, custom tools and remote MCP servers are reached: all of them by this one way.

const names = new Map<string, readonly string[]>();
const resolve: LookupFunction = (hostname, _options, done) => {
  const found = names.get(hostname)?.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  if (found === undefined) done(Object.assign(new Error(hostname), { code: "ENOTFOUND" }), "");
  else done(null, found as never);
};
const BOUNDS = { bytes: 8 * 2 ** 20, depth: 64, nodes: 100_000 };
function open() {
  const dispatcher = createDispatcher(LOOPBACK, resolve);
  return { fetch: createBoundedFetch(dispatcher, BOUNDS), close: () => dispatcher.destroy() };
}
const outgoing = open();
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(String(request.url));
  if (request.url === "/moved") response.writeHead(302, { location: "http://inside.example.com/" }).end("Moved.");
  else if (request.url === "/long") response.end(Buffer.alloc(9 * 2 ** 20));
  else response.end("Here.");
});
let port = 0;
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  port = (server.address() as AddressInfo).port;
  names.set("inside.example.com", ["169.254.169.254"]);
  names.set("mapped.example.com", ["::ffff:169.254.169.254", "fd00:ec2::254"]);
});
afterAll(async () => {
  await outgoing.close();
  server.close();
});

const why = (error: unknown): string => plainError(error).message;
const closed = (target: string): string =>
  `${target.replace(/:\d+$/, "")} leads to a closed address (loopback, private, metadata or special-purpose): ask an administrator to add ${target} to OUTGOING_ALLOW`;
const refused = (url: string): Promise<string> => outgoing.fetch(url).then(() => "answered", why);

test("a name that leads to what platforms are never at is not dialled, whatever it led to before", async () => {
  names.set("tool.example.com", ["127.0.0.1"]);
  const url = `http://tool.example.com:${port}/`;
  expect(await (await outgoing.fetch(url)).text()).toBe("Here.");
  await outgoing.fetch(url, { headers: { connection: "close" } }).then((answer: Response) => answer.text());
  names.set("tool.example.com", ["169.254.169.254"]);
  const fresh = open();
  expect(await fresh.fetch(url).then(() => "answered", why)).toBe(closed(`tool.example.com:${port}`));
  await fresh.close();
  for (const host of ["inside.example.com", "mapped.example.com", "metadata.google.internal"])
    expect(await refused(`http://${host}/`)).toBe(closed(`${host}:80`));
  for (const host of ["169.254.169.254", "0xa9fea9fe", "[::ffff:a9fe:a9fe]"])
    expect(await refused(`http://${host}/`), host).toBe(closed("169.254.169.254:80"));
});

test("a redirect is the answer, and what it leads to is not asked", async () => {
  names.set("tool.example.com", ["127.0.0.1"]);
  const before = asked.length;
  const answer = await outgoing.fetch(`http://tool.example.com:${port}/moved`);
  expect([answer.status, answer.headers.get("location")]).toEqual([302, "http://inside.example.com/"]);
  expect(asked.slice(before)).toEqual(["/moved"]);
});

test("what is too long is broken off, and what is not there is said in words", async () => {
  const long = await outgoing.fetch(`http://127.0.0.1:${port}/long`);
  await expect(long.text().catch((error) => Promise.reject(new Error(why(error))))).rejects.toThrow(
    "its answer is longer than 8 MiB",
  );
  const unanswered = await refused("http://127.0.0.1:4/");
  expect(unanswered).toMatch(/^it did not answer as expected/);
  expect(await refused("http://nobody.example.com/")).toBe(unanswered);
});

test("an open port and a closed one are told by the same words, whatever is behind it", async () => {
  const servers = [
    createTcpServer((socket) => socket.resetAndDestroy()),
    createTcpServer((socket) => socket.end()),
    createTcpServer((socket) => socket.on("error", () => undefined).end("SSH-2.0-OpenSSH_9.9\r\n")),
    createTcpServer((socket) => socket.on("error", () => undefined)),
  ];
  const urls = ["http://127.0.0.1:4/", `https://127.0.0.1:${port}/`];
  for (const one of servers) {
    await new Promise<void>((ready) => one.listen(0, "127.0.0.1", ready));
    const { port: at } = one.address() as AddressInfo;
    urls.push(`http://127.0.0.1:${at}/`, `https://127.0.0.1:${at}/`);
  }
  const told = urls.map((url) => outgoing.fetch(url, { signal: AbortSignal.timeout(300) }).then(() => "answered", why));
  expect(new Set(await Promise.all(told))).toEqual(new Set([expect.stringMatching(/^it did not answer as expected/)]));
  for (const one of servers) one.close();
});
