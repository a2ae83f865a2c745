import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modern } from "../support/client.js";
import { onEachEdge } from "../support/edges.js";
import { headerLines, raw, requestText } from "../support/raw.js";
import type { Started } from "../support/start.js";

onEachEdge(({ start }) => {
  // What two readers of one request could understand differently is refused, and
  // its connection closed: nothing that follows on it is taken for a request.

  let server: Started;

  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());

  const LIST = modern("tools/list", {}, 7);
  const TEXT = JSON.stringify(LIST.body);
  const LENGTH = `content-length: ${TEXT.length}`;
  const CHUNKED = `${TEXT.length.toString(16)}\r\n${TEXT}\r\n0\r\n\r\n`;
  const SECOND = requestText("/healthz", ["host: 127.0.0.1"], "", "GET");

  const textOf = (framing: readonly string[], body: string, path = "/base/mcp/cti") =>
    requestText(path, [...headerLines(LIST.headers), ...framing], body);

  describe.each(["/base/mcp/cti", "/base/rpc/cti.fixture.v1.SightingService/EchoSighting", "/nothing"])(
    "%s",
    (path) => {
      test.each([
        ["two Content-Length that differ", [LENGTH, "content-length: 3"], TEXT],
        ["two Content-Length that are the same", [LENGTH, LENGTH], TEXT],
        ["an empty Content-Length", ["content-length:"], ""],
        ["a second Host", ["host: other.example.com", LENGTH], TEXT],
        ["a second Host that is the same", ["host: 127.0.0.1", LENGTH], TEXT],
        ["a coding that is not chunked", ["transfer-encoding: identity"], CHUNKED],
        ["several codings", ["transfer-encoding: gzip, chunked"], CHUNKED],
        ["two Transfer-Encoding", ["transfer-encoding: chunked", "transfer-encoding: chunked"], CHUNKED],
        ["an empty Transfer-Encoding", ["transfer-encoding:"], ""],
        ["a Trailer", ["transfer-encoding: chunked", "trailer: x-more"], CHUNKED],
        ["a Trailer beside a length", [LENGTH, "trailer: x-more"], TEXT],
      ])("%s is 400, and the connection is closed", async (_what, framing, body) => {
        const answer = await raw(server.port, textOf(framing, body, path)).ended;
        expect(answer).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
        expect(answer.match(/HTTP\/1.1 /g)).toHaveLength(1);
        expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4)).error.data.error).toBe("malformed_request");
        expect(await raw(server.port, textOf(framing, body, path) + SECOND).ended).not.toContain("200 OK");
      });

      test("with two Content-Length, the shorter first, nothing is served, and the connection is closed", async () => {
        const answer = await raw(server.port, textOf(["content-length: 3", LENGTH], TEXT, path) + SECOND).ended;
        expect(answer).not.toMatch(/HTTP\/1.1 [23]/);
      });

      test.each([
        ["Transfer-Encoding and Content-Length", ["transfer-encoding: chunked", LENGTH], CHUNKED],
        ["Content-Length before Transfer-Encoding", [LENGTH, "transfer-encoding: chunked"], CHUNKED],
      ])("%s is 400 of the parser, and the connection is closed", async (_what, framing, body) => {
        const answer = await raw(server.port, textOf(framing, body, path) + SECOND).ended;
        expect(answer).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
        expect(answer.match(/HTTP\/1.1 /g)).toHaveLength(1);
      });
    },
  );

  test.each([
    ["one Content-Length", [LENGTH], TEXT],
    ["a chunked body", ["transfer-encoding: Chunked"], CHUNKED],
  ])("%s is served, and the request after it", async (_what, framing, body) => {
    // Known, so that it is answered before the next is looked at.
    await raw(
      server.port,
      requestText("/base/mcp/cti", [...headerLines(LIST.headers), "connection: close", LENGTH], TEXT),
    ).ended;
    const { text, socket } = raw(server.port, textOf(framing, body) + SECOND);
    await expect.poll(text).toMatch(/"id":7[\s\S]*HTTP\/1.1 200 OK[\s\S]*"status"/);
    socket.destroy();
  });

  test("trailers that nobody announced end the connection", async () => {
    const body = CHUNKED.replace(/\r\n\r\n$/, "\r\nx-more: 1\r\n\r\n");
    const answer = await raw(server.port, textOf(["transfer-encoding: chunked"], body) + SECOND).ended;
    expect(answer).not.toContain('"status"');
  });

  test("requests one behind the other are answered in order, or the connection is closed before a later one", async () => {
    await raw(
      server.port,
      requestText("/base/mcp/cti", [...headerLines(LIST.headers), "connection: close", LENGTH], TEXT),
    ).ended;
    const of = (id: number, method: string, params: Record<string, unknown> = {}) => {
      const { body, headers } = modern(method, params, id);
      const text = JSON.stringify(body);
      return requestText("/base/mcp/cti", [...headerLines(headers), `content-length: ${text.length}`], text);
    };
    const known = raw(server.port, [1, 2, 3].map((id) => of(id, "tools/list")).join(""));
    await expect.poll(() => [...known.text().matchAll(/"id":(\d)/g)].map(([, id]) => id)).toEqual(["1", "2", "3"]);
    known.socket.destroy();

    const call = { name: "count_sightings", arguments: { steps: 1, step_ms: 50 } };
    const waits = await raw(server.port, of(1, "tools/call", call) + of(2, "tools/list")).ended;
    expect(waits).not.toContain('"id":2');
  });

  test("a header of an object's own name is a header", async () => {
    const lines = [...headerLines(LIST.headers), "constructor: a", "constructor: b", LENGTH];
    const { text, socket } = raw(server.port, requestText("/base/mcp/cti", lines, TEXT));
    await expect.poll(text).toContain('"id":7');
    socket.destroy();
  });

  test("no answer of ours names its server", async () => {
    for (const [method, path] of [
      ["GET", "/healthz"],
      ["GET", "/nothing"],
      ["POST", "/base/mcp/cti"],
      ["OPTIONS", "/base/mcp/cti"],
    ] as const) {
      const lines = ["host: 127.0.0.1", "connection: close"];
      const answer = await raw(server.port, requestText(path, lines, "", method)).ended;
      expect(answer).toMatch(/^HTTP\/1.1 \d/);
      expect(answer).not.toMatch(/uwebsockets|^server:/im);
    }
  });
});
