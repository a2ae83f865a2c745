import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { serveTls } from "../../support/oauth/tls.js";

// The bridge as its hosts start it: a program of its own, between pipes, and servers on loopback.

const BRIDGE = fileURLToPath(new URL("../../../clients/packages/bridge/index.cjs", import.meta.url));
const KEY = "slp_abcdefghij_01234567890123456789";
const ERA = "io.modelcontextprotocol/protocolVersion";

interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
}

type Handle = (message: Message, response: ServerResponse, request: IncomingMessage) => void;

class Bridge {
  readonly got: Message[] = [];
  stderr = "";
  #waiting: (() => void)[] = [];

  constructor(readonly process: ChildProcess) {
    // Every line is a message: what is not JSON fails the test.
    createInterface({ input: process.stdout as NodeJS.ReadableStream, crlfDelay: Number.POSITIVE_INFINITY }).on(
      "line",
      (line) => {
        this.got.push(JSON.parse(line) as Message);
        for (const wake of this.#waiting.splice(0)) wake();
      },
    );
    process.stderr?.on("data", (piece) => {
      this.stderr += piece;
    });
  }

  send(...messages: object[]): void {
    this.process.stdin?.write(messages.map((one) => `${JSON.stringify({ jsonrpc: "2.0", ...one })}\n`).join(""));
  }

  async until(done: (got: readonly Message[]) => boolean): Promise<readonly Message[]> {
    while (!done(this.got)) await new Promise<void>((wake) => this.#waiting.push(wake));
    return this.got;
  }

  async answerTo(id: number | string): Promise<Message> {
    const got = await this.until((all) => all.some((one) => one.id === id && one.method === undefined));
    return got.find((one) => one.id === id && one.method === undefined) as Message;
  }
}

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

async function serve(handle: Handle, port = 0): Promise<{ url: string; port: number; server: Server }> {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    handle(JSON.parse(Buffer.concat(pieces).toString()) as Message, response, request);
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port: taken } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${taken}/mcp/cti`, port: taken, server };
}

function start(url: string, key = KEY): Bridge {
  const child = spawn(process.execPath, [BRIDGE], {
    env: { PATH: process.env.PATH, SERVICE_MCP_URL: url, SERVICE_API_KEY: key },
    stdio: ["pipe", "pipe", "pipe"],
  });
  open.push(() => child.kill("SIGKILL"));
  return new Bridge(child);
}

function answer(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", ...body }));
}

const modern = (id: number | string, method = "tools/call", params: object = {}): object => ({
  id,
  method,
  params: { ...params, _meta: { [ERA]: "2026-07-28" } },
});

test("short enough to be read before it is run, and no dependencies", () => {
  const text = readFileSync(BRIDGE, "utf8");
  expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(200);
  expect([...text.matchAll(/require\("([^"]+)"\)/g)].map(([, name]) => name)).toEqual(["node:http", "node:https"]);
});

describe("messages", () => {
  test("10,000 requests, each with progress: nothing lost, doubled or reordered", { timeout: 180_000 }, async () => {
    const seen = new Map<unknown, number>();
    const { url } = await serve((message, response) => {
      seen.set(message.id, (seen.get(message.id) ?? 0) + 1);
      const progress = (n: number): object => ({
        method: "notifications/progress",
        params: { progressToken: message.id, progress: n },
      });
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const n of [1, 2]) response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...progress(n) })}\n\n`);
      response.end(
        `data: ${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { echo: message.params?.n } })}\n\n`,
      );
    });
    const bridge = start(url);
    const count = 10_000;
    for (let n = 0; n < count; n += 500) {
      bridge.send(...Array.from({ length: 500 }, (_, at) => modern(n + at, "tools/call", { name: "echo", n: n + at })));
    }
    await bridge.until((got) => got.length >= 3 * count);
    const answers = bridge.got.filter((one) => one.method === undefined);
    expect(answers).toHaveLength(count);
    expect(answers.every((one) => one.result?.echo === one.id)).toBe(true);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(count);
    expect([...seen.values()].every((times) => times === 1)).toBe(true);
    const order = new Map<unknown, string>();
    for (const { id, method, params } of bridge.got) {
      const whose = method === undefined ? id : params?.progressToken;
      order.set(whose, `${order.get(whose) ?? ""}${method === undefined ? "a" : params?.progress}`);
    }
    expect(new Set(order.values())).toEqual(new Set(["12a"]));
  });

  test("an answer of 4 MB, as JSON and as an event", async () => {
    const big = "é".repeat(2 << 20);
    const { url } = await serve((message, response) => {
      if (message.id === 1) return answer(response, { id: 1, result: { big } });
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`data: ${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { big } })}\n\n`);
    });
    const bridge = start(url);
    bridge.send(modern(1), modern(2));
    expect((await bridge.answerTo(1)).result?.big).toBe(big);
    expect((await bridge.answerTo(2)).result?.big).toBe(big);
  });

  test("a request of 4 MB in pieces, and a name that is no header", async () => {
    const headers: unknown[] = [];
    const { url } = await serve((message, response, request) => {
      headers.push(request.headers["mcp-name"], request.headers["mcp-method"], request.headers["mcp-protocol-version"]);
      answer(response, { id: message.id, result: { length: String(message.params?.text).length } });
    });
    const bridge = start(url);
    bridge.send(modern(1, "tools/call", { name: "überprüfen\n", text: "x".repeat(4 << 20) }));
    expect((await bridge.answerTo(1)).result).toEqual({ length: 4 << 20 });
    expect(headers).toEqual([
      `=?base64?${Buffer.from("überprüfen\n").toString("base64")}?=`,
      "tools/call",
      "2026-07-28",
    ]);
  });

  test("an event stream in single bytes, with CRLF, comments, data on several lines and U+2028", async () => {
    const { url } = await serve(async (message, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const text = `: hello\r\n\r\ndata: {"jsonrpc":"2.0",\r\ndata: "id":${message.id},"result":{"a":"é\u2028"}}\r\n\r\n`;
      for (const byte of Buffer.from(text)) {
        response.write(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    const bridge = start(url);
    bridge.send(modern(7));
    expect((await bridge.answerTo(7)).result).toEqual({ a: "é\u2028" });
  });

  test("the era that negotiates: the version is sent from then on, and what follows waits for it", async () => {
    const versions: unknown[] = [];
    const { url } = await serve((message, response, request) => {
      versions.push([message.method, request.headers["mcp-protocol-version"]]);
      if (message.id === undefined) return void response.writeHead(202).end();
      const result = message.method === "initialize" ? { protocolVersion: "2025-11-25" } : {};
      setTimeout(() => answer(response, { id: message.id, result }), message.method === "initialize" ? 100 : 0);
    });
    const bridge = start(url);
    bridge.send(
      { id: 1, method: "initialize", params: {} },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/list" },
    );
    await bridge.answerTo(2);
    expect(versions).toEqual([
      ["initialize", undefined],
      ["notifications/initialized", "2025-11-25"],
      ["tools/list", "2025-11-25"],
    ]);
    expect(bridge.got).toHaveLength(2);
  });
});

describe("what goes wrong", () => {
  test("an error of JSON-RPC comes as it is, whatever the status", async () => {
    const error = { code: -32022, message: "unsupported", data: { supported: ["2025-11-25"] } };
    const { url } = await serve((message, response) => answer(response, { id: message.id, error }, 400));
    const bridge = start(url);
    bridge.send(modern("a"));
    expect(await bridge.answerTo("a")).toMatchObject({ error });
  });

  test.each([
    [401, {}, /API key/],
    [429, { "retry-after": "7" }, /wait/],
    [502, { "retry-after": "3" }, /HTTP 502\. Whether .* not known/],
    [302, { location: "http://127.0.0.1:9/" }, /HTTP 302/],
  ])("HTTP %i without JSON-RPC is an error with the status", async (status, headers, said) => {
    let calls = 0;
    const { url } = await serve((_message, response) => {
      calls++;
      response.writeHead(status, headers).end("<html>");
    });
    const bridge = start(url);
    bridge.send(modern(1));
    const { error } = await bridge.answerTo(1);
    expect(error?.message).toMatch(said);
    expect(error?.data).toEqual({
      httpStatus: status,
      ...("retry-after" in headers && { retryAfter: headers["retry-after"] }),
    });
    expect(calls).toBe(1);
  });

  test("a server that goes away and comes back: each call has one answer, and none is made twice", async () => {
    const seen = new Map<unknown, number>();
    const handle: Handle = (message, response) => {
      seen.set(message.id, (seen.get(message.id) ?? 0) + 1);
      if (message.params?.name === "hang") return;
      answer(response, { id: message.id, result: {} });
    };
    const first = await serve(handle);
    const bridge = start(first.url);
    bridge.send(modern(1), modern(2, "tools/call", { name: "hang" }));
    await bridge.answerTo(1);
    await expect.poll(() => seen.get(2)).toBe(1);
    first.server.closeAllConnections();
    first.server.close();
    expect((await bridge.answerTo(2)).error?.message).toMatch(/is lost .* not known/);
    bridge.send(modern(3));
    expect((await bridge.answerTo(3)).error?.message).toMatch(/cannot be reached .* Nothing was done/);
    await serve(handle, first.port);
    bridge.send(modern(4));
    expect((await bridge.answerTo(4)).result).toEqual({});
    expect([...seen.values()]).toEqual([1, 1, 1]);
    expect(bridge.got.filter(({ id }) => id !== undefined).length).toBe(4);
  });

  test("a certificate that is not trusted: nothing is sent, and the answer says so", async () => {
    let calls = 0;
    const server = await serveTls(() => calls++);
    open.push(() => void server.close());
    const bridge = start(`https://127.0.0.1:${server.port}/mcp/cti`);
    bridge.send(modern(1));
    expect((await bridge.answerTo(1)).error?.message).toMatch(/cannot be reached \(DEPTH_ZERO.* Nothing was done/);
    expect(calls).toBe(0);
  });

  test("a stream that ends before the answer says that the outcome is not known", async () => {
    const { url } = await serve((_message, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(": nothing\n\n");
    });
    const bridge = start(url);
    bridge.send(modern(1));
    expect((await bridge.answerTo(1)).error?.message).toMatch(/not known/);
  });

  test("lines that are no message", async () => {
    const { url } = await serve((message, response) => answer(response, { id: message.id, result: {} }));
    const bridge = start(url);
    bridge.process.stdin?.write("{\n[]\n\n");
    bridge.send(modern(1));
    await bridge.answerTo(1);
    expect(bridge.got.filter(({ id }) => id === null).map(({ error }) => error?.code)).toEqual([-32700, -32600]);
  });

  // biome-ignore lint/suspicious/noTemplateCurlyInString: a host that does not expand it.
  test.each(["", "${user_config.api_key}", "$SERVICE_API_KEY", "with blank", "é"])(
    "the key %o is none",
    async (key) => {
      let calls = 0;
      const { url } = await serve(() => calls++);
      const bridge = start(url, key);
      bridge.send({ method: "notifications/initialized" }, modern(1));
      expect((await bridge.answerTo(1)).error?.message).toMatch(/No API key is set/);
      expect(calls).toBe(0);
    },
  );

  test.each(["http://service.example/mcp/cti", ""])("%o is no endpoint", async (url) => {
    const bridge = start(url);
    const [code] = await once(bridge.process, "exit");
    expect([code, bridge.stderr]).toEqual([1, expect.stringMatching(/must be the https URL/)]);
  });
});

describe("cancelling", () => {
  test("with an era of its own, a request's stream is closed; nothing is sent, nothing is answered", async () => {
    const methods: unknown[] = [];
    let gone = false;
    const { url } = await serve((message, response) => {
      methods.push(message.method);
      if (message.id === 2) return answer(response, { id: 2, result: {} });
      response.on("close", () => {
        gone = true;
      });
    });
    const bridge = start(url);
    bridge.send(modern(1));
    await expect.poll(() => methods.length).toBe(1);
    bridge.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    await expect.poll(() => gone).toBe(true);
    bridge.send(modern(2));
    await bridge.answerTo(2);
    expect(methods).toEqual(["tools/call", "tools/call"]);
    expect(bridge.got.map(({ id }) => id)).toEqual([2]);
  });

  test("in the older era it is passed on, and the answer that comes late is dropped", async () => {
    let late: (() => void) | undefined;
    const { url } = await serve((message, response) => {
      if (message.method === "notifications/cancelled") {
        response.writeHead(202).end();
        late?.();
      } else if (message.id === 1) late = () => answer(response, { id: 1, result: {} });
      else answer(response, { id: message.id, result: {} });
    });
    const bridge = start(url);
    bridge.send({ id: 1, method: "tools/call", params: { name: "slow" } });
    await expect.poll(() => late !== undefined).toBe(true);
    bridge.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    bridge.send({ id: 2, method: "tools/list" });
    await bridge.answerTo(2);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(bridge.got.map(({ id }) => id)).toEqual([2]);
  });
});

describe("the process", () => {
  test("a host that reads slowly holds back the server, not the bridge's memory", { timeout: 30_000 }, async () => {
    let sent = 0;
    const line = `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { data: "x".repeat(65_000) } })}\n\n`;
    const { url } = await serve(async (message, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (; sent < 2_000 && !response.closed; sent++) {
        if (response.write(line)) continue;
        await Promise.race([once(response, "drain"), once(response, "close")]);
      }
      response.end(`data: ${JSON.stringify({ jsonrpc: "2.0", id: message.id, result: {} })}\n\n`);
    });
    const bridge = start(url);
    bridge.process.stdout?.pause();
    bridge.send(modern(1));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(sent).toBeLessThan(500);
    bridge.process.stdout?.resume();
    await bridge.answerTo(1);
    expect(bridge.got).toHaveLength(2_001);
  });

  test("the end of its input ends it at once, with a call open", async () => {
    const { url } = await serve(() => undefined);
    const bridge = start(url);
    bridge.send(modern(1));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const began = Date.now();
    bridge.process.stdin?.end();
    const [code] = await once(bridge.process, "exit");
    expect(code).toBe(0);
    expect(Date.now() - began).toBeLessThan(1_000);
  });

  test("the key is in no argument and in no log", async () => {
    const { url } = await serve((_message, response) => response.writeHead(500).end());
    const bridge = start(url);
    bridge.send(modern(1), { method: "notifications/x" });
    await bridge.answerTo(1);
    await expect.poll(() => bridge.stderr).toContain("refused with HTTP 500");
    expect(bridge.stderr + bridge.process.spawnargs.join()).not.toContain(KEY);
  });
});
