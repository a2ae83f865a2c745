import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from "node:http";
import { setTimeout } from "node:timers/promises";
import { type Listener, listen } from "./listener.js";
import type { Sandbox } from "./sandbox.js";

/** A request whose body has been read. */
export interface HttpRequest {
  readonly method: string;
  /** The path alone, such as /api/me. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The body as UTF-8 text, "" for none; undefined where it is larger than the platform takes. */
  readonly body: string | undefined;
  /** The same as it came; empty where it is larger than the platform takes. */
  readonly bytes: Uint8Array;
}

/** What a request is answered with. */
export interface HttpReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** "" for none. */
  readonly body: string | Uint8Array;
}

/** How a platform is served. */
export interface ServeOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** What listens already; host and port if left out. */
  readonly listener?: Listener;
  readonly maxBodyBytes: number;
  /** The delay of every answer, in milliseconds, after the platform has done its work; none if omitted. */
  readonly latencyMs?: number;
  /** Answers one request; where it throws, the connection is cut. */
  readonly answer: (request: HttpRequest) => Promise<HttpReply>;
  /** Whether a request may change something, and what is then told so; its end is that of the server. */
  readonly isWrite: (request: HttpRequest) => boolean;
  readonly kept: { changed(): void; close(): Promise<void> };
}

/**
 * Serves one platform over HTTP.
 *
 * @throws Error of node:net, such as EADDRINUSE.
 */
export async function serve(options: ServeOptions): Promise<Sandbox> {
  const { host, port, maxBodyBytes, latencyMs = 0, answer, isWrite, kept } = options;
  const answerOne: RequestListener = (message, response) => {
    requestOf(message, maxBodyBytes)
      .then(async (request) => {
        const reply = await answer(request);
        if (isWrite(request)) kept.changed();
        if (latencyMs > 0) await setTimeout(latencyMs);
        return reply;
      })
      .then(({ status, headers, body }) => {
        const length = status === 204 ? {} : { "content-length": Buffer.byteLength(body) };
        response.writeHead(status, { ...length, ...headers }).end(body);
      })
      .catch(() => response.destroy());
  };
  const listener = options.listener ?? (await listen(host, port, answerOne));
  listener.answerWith(answerOne);
  return {
    url: listener.url,
    close: async () => {
      await listener.close();
      await kept.close();
    },
  };
}

/** A reply in JSON. */
export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(value) };
}

async function requestOf(message: IncomingMessage, maxBodyBytes: number): Promise<HttpRequest> {
  const { pathname, searchParams } = new URL(message.url ?? "/", "http://platform");
  const { method = "GET", headers } = message;
  const bytes = await bodyOf(message, maxBodyBytes);
  const body = bytes?.toString("utf8");
  return { method, path: pathname, query: searchParams, headers, body, bytes: bytes ?? new Uint8Array() };
}

async function bodyOf(message: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  return bytes > maxBytes ? undefined : Buffer.concat(chunks);
}
