import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

export interface AuthProxy {
  readonly port: number;
  close(): void;
}

/** Forwards to a port of this machine with a bearer token added, which the suite itself cannot send. All else stays as sent. */
export async function startAuthProxy(target: number, token: string): Promise<AuthProxy> {
  const server = createServer((incoming, answer) => {
    const headers: string[] = [];
    for (let i = 0; i < incoming.rawHeaders.length; i += 2) {
      const name = incoming.rawHeaders[i] as string;
      if (name.toLowerCase() !== "authorization") headers.push(name, incoming.rawHeaders[i + 1] as string);
    }
    headers.push("Authorization", `Bearer ${token}`);
    const { method, url } = incoming;
    const forwarded = request(
      { host: "127.0.0.1", port: target, path: url, method, headers, setHost: false },
      (reply) => {
        answer.writeHead(reply.statusCode as number, reply.rawHeaders);
        reply.pipe(answer);
      },
    );
    forwarded.on("error", () => answer.destroy());
    answer.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
