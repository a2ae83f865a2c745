import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isUnclear } from "../../../../../services/core-objects/runs/apart/unclear.js";
import { createBoundedFetch, createDispatcher } from "../../../../../services/shared/isolation/apart/bounded-fetch.js";
import { LOOPBACK } from "../../../../support/outgoing.js";

const dispatcher = createDispatcher(LOOPBACK);
const fetch = createBoundedFetch(dispatcher, { bytes: 1_000, depth: 8, nodes: 100 });
const BROKEN = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegun";
const servers: readonly Server[] = [
  createServer((socket) => socket.resetAndDestroy()),
  createServer((socket) => socket.end()),
  createServer((socket) => socket.on("error", () => undefined).end("SSH-2.0-OpenSSH_9.9\r\n")),
  createServer((socket) => socket.on("error", () => undefined).end(BROKEN)),
];
const urls = ["http://127.0.0.1:4/"];
beforeAll(async () => {
  for (const server of servers) {
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    urls.push(`http://127.0.0.1:${(server.address() as { port: number }).port}/`);
  }
});
afterAll(async () => {
  for (const server of servers) server.close();
  await dispatcher.destroy();
});

const errorOf = (url: string, init?: object): Promise<unknown> =>
  fetch(url, init as never)
    .then((answer: Response) => answer.text())
    .then(
      () => "answered",
      (error: unknown) => error,
    );

test("of every failure of a connection it is said alike that the call may have taken effect", async () => {
  for (const url of urls) expect(isUnclear(await errorOf(url, { method: "POST" })), url).toBe(true);
});

test("what was not sent has taken no effect", async () => {
  expect(isUnclear(await errorOf("http://169.254.169.254/"))).toBe(false);
  expect(isUnclear(await errorOf(urls[1]!, { headers: { "x-a": "a\nb" } }))).toBe(false);
  expect(isUnclear(await errorOf("http://[broken/"))).toBe(false);
});

test("an answer that cannot be read may be that of a call that was done", () => {
  expect(isUnclear(new SyntaxError("Unexpected token"))).toBe(true);
  expect(isUnclear(new Error("[]"))).toBe(true);
});
