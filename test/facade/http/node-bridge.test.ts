import { once } from "node:events";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { Edge } from "../../../facade/http/edge.js";
import { nodeRoutes } from "../../../facade/http/node-bridge.js";
import { createPages } from "../../../facade/http/pages.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { onEachEdge } from "../support/edges.js";
import { UNCOUNTED } from "../support/start.js";

onEachEdge(({ listen }) => {
  const edges: Edge[] = [];
  afterEach(() => {
    for (const edge of edges.splice(0)) edge.close();
  });

  async function mount(handler: RequestListener, maxBody = 1 << 20): Promise<string> {
    const pages = createPages(nodeRoutes({ prefix: "/oauth", handler, maxBody, log: silentLog }), silentLog, UNCOUNTED);
    const edge = await listen({ host: "127.0.0.1", port: 0, exclusive: true }, pages.serve);
    edges.push(edge);
    return `http://127.0.0.1:${edge.port}/oauth`;
  }

  /** What echo says it was sent. */
  interface Echoed {
    readonly method: string;
    readonly url: string;
    readonly headers: Record<string, string>;
    readonly body: string;
  }

  async function sent(url: string, init: RequestInit = {}): Promise<Echoed> {
    const reply = await fetch(url, init);
    return (await reply.json()) as Echoed;
  }

  async function bodyOf(req: IncomingMessage): Promise<string> {
    let text = "";
    for await (const piece of req) text += piece;
    return text;
  }

  const echo: RequestListener = async (req, res) => {
    const body = await bodyOf(req);
    res.setHeader("content-type", "application/json");
    res.end(
      JSON.stringify({ method: req.method, url: req.url, headers: req.headers, body, from: req.socket.remoteAddress }),
    );
  };

  test("a form, a JSON body and a chunked one arrive as they were sent", async () => {
    const url = await mount(echo);
    const form = await sent(`${url}/token?x=1&y=%20`, {
      method: "POST",
      body: new URLSearchParams({ a: "1 2", b: "é" }),
    });
    expect(form).toMatchObject({
      method: "POST",
      url: "/oauth/token?x=1&y=%20",
      body: "a=1+2&b=%C3%A9",
      from: "127.0.0.1",
    });
    expect(form.headers["content-type"]).toMatch(/^application\/x-www-form-urlencoded/);
    expect(form.headers.host).toBe(new URL(url).host);
    const json = await sent(`${url}/reg`, {
      method: "PUT",
      body: '{"a":1}',
      headers: { "content-type": "application/json" },
    });
    expect(json).toMatchObject({ method: "PUT", body: '{"a":1}' });
    const pieces = new ReadableStream({
      async start(controller) {
        for (const piece of ["one ", "two ", "three"]) {
          controller.enqueue(new TextEncoder().encode(piece));
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        controller.close();
      },
    });
    const chunked = await sent(`${url}/x`, { method: "POST", body: pieces, duplex: "half" } as RequestInit);
    expect(chunked.body).toBe("one two three");
    expect((await sent(url)).url).toBe("/oauth");
    expect((await fetch(`${url}ther`)).status).toBe(404);
  });

  test("redirects, several cookies, statuses and headers come back as the handler wrote them", async () => {
    const url = await mount((_req, res) => {
      res.statusCode = 303;
      res.setHeader("Location", "/oauth/interaction/1?a=b");
      res.setHeader("Set-Cookie", ["a=1; Path=/; HttpOnly", "b=2; Expires=Wed, 21 Oct 2037 07:28:00 GMT"]);
      res.setHeader("X-Twice", ["one", "two"]);
      res.end();
    });
    const reply = await fetch(`${url}/auth`, { redirect: "manual", headers: { cookie: "session=x; other=y" } });
    expect([reply.status, reply.headers.get("location")]).toEqual([303, "/oauth/interaction/1?a=b"]);
    expect(reply.headers.getSetCookie()).toEqual([
      "a=1; Path=/; HttpOnly",
      "b=2; Expires=Wed, 21 Oct 2037 07:28:00 GMT",
    ]);
    expect(reply.headers.get("x-twice")).toBe("one, two");
    const odd = await mount((_req, res) => res.writeHead(418).end("short"));
    expect([(await fetch(odd)).status, await (await fetch(odd)).text()]).toEqual([418, "short"]);
  });

  test("cookies that came in several headers are one list to the handler", async () => {
    const url = await mount(echo);
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write("GET /oauth HTTP/1.1\r\nhost: h\r\ncookie: a=1\r\ncookie: b=2\r\n\r\n");
    const [data] = (await once(socket, "data")) as [Buffer];
    expect(data.toString()).toContain('"cookie":"a=1; b=2"');
    socket.destroy();
  });

  test("HEAD tells the length and sends nothing; 204 and 304 have no body", async () => {
    const url = await mount((req, res) => {
      if (req.url?.endsWith("/none")) return res.writeHead(204).end();
      if (req.url?.endsWith("/same")) return res.writeHead(304, { etag: '"x"' }).end();
      res.setHeader("content-length", 11);
      res.end(req.method === "HEAD" ? undefined : "hello world");
    });
    const head = await fetch(url, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "11", ""]);
    expect(await (await fetch(url)).text()).toBe("hello world");
    const none = await fetch(`${url}/none`);
    expect([none.status, await none.text()]).toEqual([204, ""]);
    const same = await fetch(`${url}/same`);
    expect([same.status, same.headers.get("etag"), await same.text()]).toEqual([304, '"x"', ""]);
  });

  test("one connection carries one request after another, also behind a body that was not read", async () => {
    const url = await mount((req, res) => (req.method === "POST" ? res.writeHead(401).end("no") : echo(req, res)));
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    let text = "";
    socket.on("data", (data) => {
      text += data;
    });
    socket.write(`POST /oauth/a HTTP/1.1\r\nhost: h\r\ncontent-length: 200000\r\n\r\n${"x".repeat(200_000)}`);
    await expect.poll(() => text).toContain("401 Unauthorized");
    socket.write("GET /oauth/b HTTP/1.1\r\nhost: h\r\n\r\n");
    await expect.poll(() => text).toContain('"url":"/oauth/b"');
    socket.destroy();
  });

  test.each([
    ["of a length that it tells", true],
    ["in chunks", false],
  ])("a big answer %s is made as fast as the client reads it", async (_what, told) => {
    const PIECES = 400;
    const piece = Buffer.alloc(64 << 10, "x");
    let made = 0;
    const url = await mount(async (_req, res) => {
      if (told) res.setHeader("content-length", PIECES * piece.length);
      for (; made < PIECES; made++) if (!res.write(piece)) await once(res, "drain");
      res.end();
    });
    const get = httpRequest(url);
    get.end();
    const [reply] = (await once(get, "response")) as [IncomingMessage];
    expect(reply.headers["content-length"]).toBe(told ? String(PIECES * piece.length) : undefined);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(made).toBeLessThan(PIECES);
    let size = 0;
    for await (const data of reply) size += (data as Buffer).length;
    expect([size, made]).toEqual([PIECES * piece.length, PIECES]);
  });

  test("a big body is read as fast as the handler takes it, and not beyond its bound", async () => {
    let seen = 0;
    const url = await mount(async (req, res) => {
      for await (const piece of req) {
        seen += (piece as Buffer).length;
        if (seen < 200_000) await new Promise((resolve) => setTimeout(resolve, 20));
      }
      res.end(String(seen));
    }, 8 << 20);
    const body = Buffer.alloc(6 << 20, "y");
    expect(await (await fetch(url, { method: "POST", body })).text()).toBe(String(body.length));
    expect(
      (await fetch(url, { method: "POST", body: Buffer.alloc(9 << 20) }).catch(() => ({ status: 413 }))).status,
    ).toBe(413);
  });

  test("a client that goes away closes the handler's request and response", async () => {
    const closed: string[] = [];
    const url = await mount((req, res) => {
      req.on("close", () => closed.push("request"));
      res.on("close", () => closed.push("response"));
      res.write("begun");
    });
    const aborter = new AbortController();
    const reply = await fetch(`${url}/x`, { signal: aborter.signal });
    await reply.body?.getReader().read();
    aborter.abort();
    await expect.poll(() => closed.toSorted(), { timeout: 4_000 }).toEqual(["request", "response"]);
  });

  test("a client that goes away in the middle of its body is an aborted request to the handler", async () => {
    let failed: unknown;
    const url = await mount(async (req, _res) => {
      await bodyOf(req).catch((error: unknown) => {
        failed = error;
      });
    });
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write("POST /oauth HTTP/1.1\r\nhost: h\r\ncontent-length: 1000\r\n\r\nhalf");
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.destroy();
    await expect.poll(() => failed).toMatchObject({ code: "ECONNRESET" });
  });

  test("a handler that drops its connection cuts the client off", async () => {
    const before = await mount((_req, res) => void res.destroy());
    expect((await fetch(before)).status).toBe(500);
    const during = await mount((_req, res) => {
      res.write("begun", () => res.destroy());
    });
    await expect(fetch(during).then((reply) => reply.text())).rejects.toThrow();
  });

  test("an error of the handler is a 500 that says nothing, and an answer that had begun is cut", async () => {
    const url = await mount(() => {
      throw new Error("a secret");
    });
    const reply = await fetch(url);
    expect([reply.status, (await reply.text()).includes("secret")]).toEqual([500, false]);
    const late = await mount((async (_req: IncomingMessage, res: ServerResponse) => {
      res.write("begun");
      await new Promise((resolve) => setTimeout(resolve, 20));
      throw new Error("a secret");
    }) as RequestListener);
    await expect(fetch(late).then((one) => one.text())).rejects.toThrow();
  });

  test("what the handler answers is what it answers on a server of its own", async () => {
    const handler: RequestListener = async (req, res) => {
      const body = await bodyOf(req);
      res.writeHead(201, "Made", { "x-length": body.length, vary: "Origin" });
      res.write("first ");
      setTimeout(() => res.end(body), 10);
    };
    const own = createServer(handler).listen(0, "127.0.0.1");
    await once(own, "listening");
    const { port } = own.address() as { port: number };
    const answers = [];
    for (const url of [await mount(handler), `http://127.0.0.1:${port}/oauth`]) {
      const reply = await fetch(url, { method: "PATCH", body: "body" });
      answers.push([reply.status, await reply.text(), reply.headers.get("x-length"), reply.headers.get("vary")]);
    }
    expect(answers[0]).toEqual(answers[1]);
    own.close();
  });
});
