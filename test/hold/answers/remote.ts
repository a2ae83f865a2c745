import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

// What hostile remotes are made of: the pieces that their tables put together.

/** A request to a hostile remote, and the means to answer it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The JSON of the request; {} where there is none. */
  readonly asked: {
    readonly id?: number;
    readonly method?: string;
    readonly params?: { readonly name?: string; readonly cursor?: string; readonly _meta?: { progressToken?: number } };
    readonly input?: readonly string[];
    readonly messages?: readonly { readonly role: string }[];
  };
}

/** Answers one request, as hostile as it likes. */
export type Hostile = (exchange: Exchange) => void | Promise<void>;

/** Answers JSON. */
export function json({ response }: Exchange, body: unknown): void {
  response.setHeader("content-type", "application/json");
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

/** Answers the JSON-RPC request with this result. */
export function result(exchange: Exchange, value: unknown): void {
  json(exchange, { jsonrpc: "2.0", id: exchange.asked.id, result: value });
}

/** Sends events until the client goes, and ends with the answer where there is one. */
export async function events(
  { response }: Exchange,
  event: (n: number) => string,
  { count, every = 500, answer }: { readonly count: number; readonly every?: number; readonly answer?: unknown },
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let n = 0; n < count && !response.destroyed; n++) {
    response.write(event(n));
    if (n % every === every - 1) await sleep(1);
  }
  if (answer !== undefined) response.end(message(answer));
}

/** One event of a stream. */
export function message(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** JSON that is nested this deep. */
export function nested(depth: number, open = "[", close = "]"): string {
  return open.repeat(depth) + close.repeat(depth);
}

/** Says nothing, ever. */
export const silent: Hostile = () => undefined;

/** One byte at a time, for as long as anybody reads. */
export const slow: Hostile = async ({ response }) => {
  response.writeHead(200, { "content-type": "application/json" });
  while (!response.destroyed) {
    response.write(" ");
    await sleep(100);
  }
};

/** White space without end, as fast as it is read. */
export const endless: Hostile = async ({ response }) => {
  response.writeHead(200, { "content-type": "application/json" });
  const piece = Buffer.alloc(64 * 1024, 32);
  while (!response.destroyed) {
    response.write(piece);
    await sleep(1);
  }
};
