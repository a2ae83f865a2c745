import { connect as connectSocket } from "node:net";
import { ViolationsSchema } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SightingService, WritingService } from "../../../conformance/gen/cti/fixture/v1/fixture_service_pb.js";
import { onEachEdge } from "../../support/edges.js";
import type { Started } from "../../support/start.js";

onEachEdge(({ start }) => {
  let server: Started;

  beforeEach(async () => {
    server = await start();
  });
  afterEach(() => server.close());

  const PATH = "cti.fixture.v1.SightingService/EchoSighting";

  const TRANSPORTS: [string, (baseUrl: string) => Transport][] = [
    ["Connect, JSON", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false })],
    ["Connect, binary", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true })],
    ["gRPC-Web, JSON", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false })],
    ["gRPC-Web, binary", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true })],
  ];

  const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  async function failureOf(call: Promise<unknown>): Promise<ConnectError> {
    return ConnectError.from(
      await call.then(
        () => undefined,
        (error: unknown) => error,
      ),
    );
  }

  async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
    const items: T[] = [];
    for await (const item of stream) items.push(item);
    return items;
  }

  describe.each(TRANSPORTS)("over %s", (_name, transportTo) => {
    const sightings = () => createClient(SightingService, transportTo(`${server.url}/rpc`));
    const writing = () => createClient(WritingService, transportTo(`${server.url}/rpc`));

    test("a unary rpc answers as the user of the key", async () => {
      const reply = await sightings().echoSighting({ word: "hé", sighting: { id: "s", ports: [80] } }, as("good"));
      expect(reply).toMatchObject({ word: "hé", caller: "user of good", sighting: { id: "s", ports: [80] } });
    });

    test("a stream comes message by message", async () => {
      const events = await all(sightings().countSightings({ steps: 3, stepMs: 10 }, as("good")));
      expect(events.map(({ event }) => event.case)).toEqual(["progress", "progress", "progress", "result"]);
      expect(events.at(-1)?.event.value).toMatchObject({ counted: 3 });
    });

    test("a service's error comes with its code, sentence and details; a fault of ours says nothing", async () => {
      const broken = await failureOf(sightings().echoSighting({ word: "more than ten characters" }, as("good")));
      expect(broken.code).toBe(Code.InvalidArgument);
      expect(broken.findDetails(ViolationsSchema)[0]?.violations[0]?.ruleId).toBe("string.max_len");
      const told = await failureOf(writing().failSighting({ code: Code.NotFound }, as("good")));
      expect([told.code, told.rawMessage]).toEqual([Code.NotFound, "what went wrong and what to do"]);
      const fault = await failureOf(writing().failSighting({ code: 0 }, as("good")));
      expect(fault.rawMessage).toBe("internal error");
    });

    test("who may not come in is told why, also on a stream", async () => {
      const unknown = await failureOf(sightings().echoSighting({ word: "a" }, as("bad")));
      expect([unknown.code, unknown.rawMessage]).toEqual([
        Code.Unauthenticated,
        expect.stringContaining("not accepted"),
      ]);
      const stream = await failureOf(all(sightings().countSightings({ steps: 1 }, {})));
      expect([stream.code, stream.rawMessage]).toEqual([Code.Unauthenticated, expect.stringContaining("sign in")]);
      server.keys.refuse("later", "unavailable");
      expect((await failureOf(sightings().echoSighting({ word: "a" }, as("later")))).code).toBe(Code.Unavailable);
    });

    test("an abort of the client reaches the service", async () => {
      const aborter = new AbortController();
      const call = failureOf(writing().waitForSighting({ name: "w" }, { ...as("good"), signal: aborter.signal }));
      await expect.poll(() => server.world.waiting.has("w")).toBe(true);
      aborter.abort();
      await expect.poll(() => server.world.waiting.get("w")?.aborted, { timeout: 4_000 }).toBe(true);
      expect((await call).code).toBe(Code.Canceled);
    });

    test("the client's own deadline is the service's", async () => {
      const call = failureOf(writing().waitForSighting({ name: "d" }, { ...as("good"), timeoutMs: 300 }));
      expect((await call).code).toBe(Code.DeadlineExceeded);
      await expect.poll(() => server.world.waiting.get("d")?.aborted, { timeout: 4_000 }).toBe(true);
    });

    test("a key that is revoked ends the streams that it opened", async () => {
      const stream = sightings().countSightings({ steps: 1_000, stepMs: 20 }, as("good"));
      const ended = failureOf(
        (async () => {
          for await (const { event } of stream) {
            if (event.case === "progress" && event.value.done === 2) server.keys.revoke("good");
          }
        })(),
      );
      expect((await ended).code).toBe(Code.Unauthenticated);
    });
  });

  const send = async (
    path: string,
    headers: Record<string, string>,
    body: string | ReadableStream = '{"word":"a"}',
  ) => {
    const reply = await fetch(`${server.url}/rpc/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer good", ...headers },
      body,
      ...(body instanceof ReadableStream && { duplex: "half" }),
    } as RequestInit);
    const text = await reply.text();
    return {
      status: reply.status,
      headers: reply.headers,
      body: text === "" ? {} : (JSON.parse(text) as { code?: string }),
    };
  };

  test.each([
    ["an unknown rpc", "cti.fixture.v1.SightingService/Nothing", {}, 501, "unimplemented"],
    ["an unknown service", "nothing.v1.Nothing/Nothing", {}, 501, "unimplemented"],
    ["a longer path", `${PATH}/more`, {}, 501, "unimplemented"],
    ["another media type", PATH, { "content-type": "text/plain" }, 501, "unimplemented"],
    [
      "a stream's media type for one message",
      PATH,
      { "content-type": "application/connect+xml" },
      501,
      "unimplemented",
    ],
    ["no key", PATH, { authorization: "none" }, 401, "unauthenticated"],
  ])("%s is refused as before", async (_what, path, headers, status, code) => {
    const reply = await send(path, headers as unknown as Record<string, string>);
    expect([reply.status, reply.body.code, reply.headers.get("content-type")]).toEqual([
      status,
      code,
      "application/json",
    ]);
  });

  test("a limit of the client that is none, or above ours, is not a reason to refuse", async () => {
    for (const limit of ["abc", "-1", "0", "999999999"]) {
      expect((await send(PATH, { "connect-timeout-ms": limit })).status).toBe(200);
    }
  });

  test("a body that is too long is 413, whether it says so or not; an unknown field is named", async () => {
    const long = `{"word":"${"x".repeat(5 << 20)}"}`;
    expect((await send(PATH, {}, long).catch(() => ({ status: 413 }))).status).toBe(413);
    const chunks = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(long));
        controller.close();
      },
    });
    expect((await send(PATH, {}, chunks).catch(() => ({ status: 413 }))).status).toBe(413);
    const unknown = await send(PATH, {}, '{"colour":"red"}');
    expect([unknown.status, unknown.body.code]).toEqual([400, "invalid_argument"]);
  });

  test("who may not come in is refused before the body is read", async () => {
    const { port, pathname } = new URL(`${server.url}/rpc/${PATH}`);
    const socket = connectSocket(Number(port), "127.0.0.1");
    let answer = "";
    socket.on("data", (data) => {
      answer += data;
    });
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nauthorization: Bearer bad\r\n` +
        "content-length: 60000\r\n\r\n{",
    );
    await expect.poll(() => answer, { timeout: 4_000 }).toMatch(/^HTTP\/1.1 401/);
    socket.destroy();
  });
});
