import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request on its way to a platform. */
export interface Asked {
  readonly verb: string;
  readonly path: string;
  readonly body: string;
  /** The value of the authorization header; "" where there is none. */
  readonly authorization: string;
}

/** What stands between the tools and a platform, and answers in its place what it is armed for. */
export interface Hostile {
  readonly url: string;
  /** Where it hands on what it does not answer; the platform is started after it. */
  towards: string;
  /** How many requests it answered itself since it was armed. */
  readonly met: number;
  /** Answers requests of a kind itself; `n` counts them from 1. A fault that gives false hands its request on. */
  arm(when: (asked: Asked) => boolean, fault: (response: ServerResponse, n: number) => unknown): void;
  disarm(): void;
  /** Refuses connections until it is up again, at the same port. */
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}

/** Starts one, on a socket of its own. */
export async function startHostile(): Promise<Hostile> {
  let when: (asked: Asked) => boolean = () => false;
  let fault: (response: ServerResponse, n: number) => unknown = () => false;
  let met = 0;

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method: verb = "GET", url: path = "/" } = request;
    const { authorization = "" } = request.headers;
    if (when({ verb, path, body: body.toString(), authorization })) {
      met++;
      if (fault(response, met) !== false) return;
    }
    const headers = Object.entries(request.headers).filter(([name]) => !DROPPED.has(name)) as [string, string][];
    const reply = await fetch(`${hostile.towards}${path}`, {
      method: verb,
      headers,
      redirect: "manual",
      ...(body.length > 0 && { body }),
    });
    const kept = [...reply.headers].filter(([name]) => !DROPPED.has(name));
    response.writeHead(reply.status, Object.fromEntries(kept)).end(Buffer.from(await reply.arrayBuffer()));
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const listen = (port: number) => new Promise<void>((ready) => server.listen(port, "127.0.0.1", ready));
  const stop = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;

  const hostile: Hostile = {
    url: `http://127.0.0.1:${port}`,
    towards: "",
    get met() {
      return met;
    },
    arm(kind, answer) {
      met = 0;
      when = kind;
      fault = answer;
    },
    disarm: () =>
      hostile.arm(
        () => false,
        () => false,
      ),
    down: stop,
    up: () => listen(port),
    close: async () => {
      if (server.listening) await stop();
    },
  };
  return hostile;
}

/** Of the connection, not of the message. */
const DROPPED = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "content-encoding",
  "keep-alive",
]);
