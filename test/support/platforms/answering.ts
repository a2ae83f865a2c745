import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Exchange } from "./recording.js";

/** A request that a platform was sent. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The JSON that was sent; undefined for none. */
  readonly body: unknown;
}

/** What is answered: the part of an exchange that came back. */
export type Reply = Pick<Exchange, "status" | "answer" | "text">;

/** A platform that answers what was recorded. */
export interface Answering {
  readonly url: string;
  /** What it was asked, in order; set its length to 0 to forget. */
  readonly asked: Asked[];
  /** Frees its port. */
  close(): Promise<void>;
}

/** Starts a server that remembers what it is asked; where there is no answer for that, it answers 599. */
export async function startAnswering(replyTo: (asked: Asked) => Reply | undefined): Promise<Answering> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const sent = await text(request);
    const { pathname, searchParams } = new URL(request.url ?? "", "http://platform");
    const one: Asked = {
      method: request.method ?? "",
      path: pathname,
      query: searchParams,
      headers: request.headers,
      body: sent === "" ? undefined : JSON.parse(sent),
    };
    asked.push(one);
    const reply = replyTo(one);
    const body = reply?.text ?? (reply?.answer === undefined ? "" : JSON.stringify(reply.answer));
    response.writeHead(reply?.status ?? 599, { "content-type": "application/json; charset=utf-8" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
