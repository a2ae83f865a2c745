import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An HTTP server that listens, and answers with what it is told. */
export interface Listener {
  /** Without a trailing slash. */
  readonly url: string;
  /** From now on requests are answered with this. */
  answerWith(answer: RequestListener): void;
  /** Answers a request with what answers now. */
  again(request: IncomingMessage, response: ServerResponse): void;
  /** Ends it and every connection to it. */
  close(): Promise<void>;
}

/**
 * Listens for one platform.
 *
 * @param port 0 for any free one.
 * @throws Error of node:net, such as EADDRINUSE.
 */
export async function listen(host: string, port: number, first: RequestListener): Promise<Listener> {
  let answer = first;
  const server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    answerWith(given) {
      answer = given;
    },
    again: (request, response) => answer(request, response),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
