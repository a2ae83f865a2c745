import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request as forward, type IncomingMessage, type RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Agent, fetch as undiciFetch } from "undici";

const FOLDER = join(import.meta.dirname, "../../fixtures/tls");

/** The certificate of localhost that nobody else trusts; for NODE_EXTRA_CA_CERTS. */
export const CERTIFICATE_FILE = join(FOLDER, "certificate.pem");
const PAIR = { cert: readFileSync(CERTIFICATE_FILE), key: readFileSync(join(FOLDER, "key.pem")) };

/** An HTTPS server on a free port of this machine. */
export interface TlsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves HTTPS. */
export async function serveTls(listener: RequestListener): Promise<TlsServer> {
  const server = createServer(PAIR, listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A proxy that ends TLS: it passes requests on over HTTP, and says who sent them. */
export function proxyTo(port: number): RequestListener {
  return (request, response) => {
    const passed = forward(
      {
        port,
        host: "127.0.0.1",
        method: request.method,
        path: request.url,
        headers: { ...request.headers, "x-forwarded-for": request.socket.remoteAddress ?? "" },
      },
      (answer: IncomingMessage) => {
        response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        answer.pipe(response);
      },
    );
    passed.on("error", () => response.destroy());
    request.pipe(passed);
  };
}

const agent = new Agent({ connect: { ca: PAIR.cert } });

/** fetch that trusts the certificate, as that of a machine does whose administrator has installed it. */
export const trustingFetch: typeof fetch = (input, init) =>
  undiciFetch(input as string, { ...(init as object), dispatcher: agent }) as unknown as Promise<Response>;
