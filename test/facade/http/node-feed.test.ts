import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Edge } from "../../../facade/http/edge.js";
import type { Exchange } from "../../../facade/http/exchange.js";
import { listen } from "../../../facade/http/node-edge.js";
import { raw, requestText } from "../support/raw.js";

// Wherever a stream of bytes is cut, by packets or by the slices in which it is
// handed to the parser, it holds the same requests, and nobody makes the parser
// read all of a packet.

const HOST = "host: 127.0.0.1";
const MAX_BODY = 1 << 20;
const RUNS = { numRuns: 60 };

let edge: Edge;
let seen: string[] = [];
beforeAll(async () => {
  edge = await listen({ host: "127.0.0.1", port: 0, exclusive: true }, serve);
});
beforeEach(() => {
  seen = [];
});
afterAll(() => edge.close());

function serve(exchange: Exchange): void {
  if (exchange.malformed !== undefined) {
    // As the front door does.
    exchange.postpone();
    exchange.answer(400, [], exchange.malformed);
    return;
  }
  exchange.readJson(MAX_BODY, (body) => {
    const said = `${exchange.method} ${exchange.path} ${exchange.headers["x-pad"]?.length} ${body}`;
    seen.push(said);
    exchange.answer(200, [], said);
  });
}

/** Sends the pieces, each in a turn of its own, and resolves to what the edge made of them once it has closed. */
async function requestsOf(pieces: readonly string[]): Promise<string[]> {
  seen = [];
  const [first = "", ...others] = pieces;
  const { socket, ended } = raw(edge.port, first);
  socket.setNoDelay();
  for (const piece of others) {
    await turn();
    if (socket.writable) socket.write(piece);
  }
  await ended;
  return seen;
}

function cut(text: string, at: readonly number[]): string[] {
  const places = [...new Set(at.map((part) => Math.floor(part * text.length)))].sort((a, b) => a - b);
  return [0, ...places].map((place, i) => text.slice(place, places[i] ?? text.length));
}

const chunked = (chunks: readonly string[]): string =>
  [...chunks.filter((chunk) => chunk !== ""), ""]
    .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    .join("");

/** A body that would be a request, were its beginning taken for its end. */
const SMUGGLED = `\r\n0\r\n\r\n${requestText("/smuggled", [HOST], "", "GET")}`;
const text = fc.oneof(fc.constant(""), fc.constant(SMUGGLED), fc.stringMatching(/^[a-z\r\n]{0,2000}$/));
const body = fc.oneof(
  fc.constant({ method: "GET", framing: [] as string[], sent: "", read: "" }),
  text.map((read) => ({ method: "POST", framing: [`content-length: ${read.length}`], sent: read, read })),
  fc.array(text, { maxLength: 4 }).map((chunks) => ({
    method: "POST",
    framing: ["transfer-encoding: chunked"],
    sent: chunked(chunks),
    read: chunks.join(""),
  })),
);
const asked = fc.record({ body, pad: fc.nat(1_500), path: fc.nat(9) }).map(({ body, pad, path }) => ({
  bytes: requestText(`/${path}`, [HOST, `x-pad: ${"a".repeat(pad)}`, ...body.framing], body.sent, body.method),
  said: `${body.method} /${path} ${pad} ${body.read}`,
}));
const stream = fc.array(asked, { minLength: 1, maxLength: 6 });
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 });
const LAST = requestText("/last", [HOST, "x-pad: ", "connection: close"], "", "GET");

test("requests one behind the other are the same, and answered in order, wherever they are cut", async () => {
  await fc.assert(
    fc.asyncProperty(stream, cuts, async (requests, at) => {
      const whole = requests.map(({ bytes }) => bytes).join("") + LAST;
      expect(await requestsOf(cut(whole, at))).toEqual([...requests.map(({ said }) => said), "GET /last 0 "]);
    }),
    RUNS,
  );
});

/** What no request is, or more than one. */
const FAULTS = [
  requestText("/fault", [HOST, "content-length: 3", "content-length: 4"], "abcd"),
  requestText("/fault", [HOST, "content-length: 3", "transfer-encoding: chunked"], chunked(["abc"])),
  requestText("/fault", [HOST, "transfer-encoding: chunked"], "3x\r\nabc\r\n0\r\n\r\n"),
  requestText("/fault", [HOST, "transfer-encoding: chunked"], "2\r\nabc\r\n0\r\n\r\n"),
  requestText("/fault", [HOST, "transfer-encoding: identity"], ""),
  requestText("/fault", [HOST, "trailer: x-more"], ""),
  requestText("/fault", [HOST, "content-length: 3 3"], "abc"),
  requestText("/fault", [HOST, `x-pad: ${"a".repeat(17_000)}`], "", "GET"),
  requestText("/fault", ["no colon"], "", "GET"),
  "nonsense\r\n\r\n",
];

test("behind what is no request nothing is served, wherever it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(stream, fc.constantFrom(...FAULTS), cuts, async (requests, fault, at) => {
      const whole = requests.map(({ bytes }) => bytes).join("") + fault + LAST;
      const said = requests.map((one) => one.said);
      // Those before it may be given up with it.
      expect(said).toEqual(expect.arrayContaining(await requestsOf(cut(whole, at))));
      expect(seen).toEqual(said.slice(0, seen.length));
    }),
    RUNS,
  );
});

test("trailers are read as none, wherever they are cut, and nothing is served behind them", async () => {
  const bytes = requestText("/", [HOST, "transfer-encoding: chunked"], "0\r\nx-more: 1\r\n\r\n") + LAST;
  for (let at = 0; at < bytes.length; at += 3) {
    expect(await requestsOf([bytes.slice(0, at), bytes.slice(at)])).toEqual([]);
  }
});

const MARKS = ["\r", "\n", " ", "\t", ":", ",", "0", "1", "a", "\0", "\x0b"];
const change = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  mark: fc.constantFrom(...MARKS),
  over: fc.boolean(),
});

test("a packet of one slice with bytes that were changed says no more, and no less, than when it is cut", async () => {
  const plain =
    requestText("/one", [HOST, "x-pad: ", "content-length: 3"], "abc") +
    requestText("/two", [HOST, "x-pad: ", "transfer-encoding: chunked"], chunked(["abc", "d"])) +
    LAST;
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), cuts, async (changes, at) => {
      let changed = plain;
      for (const { at: part, mark, over } of changes) {
        const place = Math.floor(part * changed.length);
        changed = changed.slice(0, place) + mark + changed.slice(place + (over ? 1 : 0));
      }
      // Ends also what waits for more.
      const end = `${changed}\r\n\r\n\0`;
      const together = await requestsOf([end]);
      const apart = await requestsOf(cut(end, at));
      const length = Math.min(together.length, apart.length);
      // What is wrong may end the connection before those ahead of it are answered.
      expect(apart.slice(0, length)).toEqual(together.slice(0, length));
    }),
    RUNS,
  );
});

test("of a thousand requests in one packet the parser makes those of a slice, where the first is not answered", async () => {
  let made = 0;
  const count = (): void => void made++;
  subscribe("http.server.request.start", count);
  const silent = await listen({ host: "127.0.0.1", port: 0, exclusive: true }, () => undefined);
  const request = requestText("/", [HOST], "", "GET");
  await raw(silent.port, request.repeat(1_000)).ended;
  unsubscribe("http.server.request.start", count);
  expect(made).toBeLessThanOrEqual(Math.ceil(1_024 / request.length));
  expect(silent.inFlight()).toBe(0);
  silent.close();
});
