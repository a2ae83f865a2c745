import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import type { Said } from "./platform-answers.js";
import type { Random } from "./random.js";

/** A platform that answers what it was told to, and breaks off in some ways of its own. */
export interface LyingServer {
  /** Prepares an answer; returns the address under which it is given. */
  tell(said: Said, random: Random): string;
  close(): Promise<void>;
}

/** Starts one. */
export async function startLying(): Promise<LyingServer> {
  const told = new Map<string, { readonly said: Said; readonly way: number }>();
  let count = 0;
  const server = createServer((request, response) => {
    request.resume();
    const name = /^\/(\d+)/.exec(request.url ?? "")?.[1] ?? "";
    const { said, way } = told.get(name) ?? { said: { status: 200, text: "{}" }, way: 9 };
    const status = said.status === 204 ? 200 : said.status;
    switch (way) {
      case 0:
        return void request.socket.destroy();
      case 1:
        response.writeHead(status, { "content-length": "100000" }).write(said.text.slice(0, 50_000));
        return void setTimeout(() => response.destroy(), 1);
      case 2:
        return void response.writeHead(status, { "content-encoding": "gzip" }).end(gzipSync(said.text).subarray(0, 40));
      case 3:
        return void response.writeHead(status, { "content-type": "text/html", "set-cookie": "a=b" }).end(said.text);
      default:
        return void response.writeHead(status, { "content-type": "application/json" }).end(said.text);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    tell(said, random) {
      const name = String(count++ % 1_000);
      told.set(name, { said, way: random.int(8) });
      return `http://127.0.0.1:${port}/${name}`;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
