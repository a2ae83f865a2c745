import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readCommandLine } from "../../../../clients/load/command-line.js";
import type { Screen } from "../../../../clients/load/live.js";
import type { Report } from "../../../../clients/load/report/report.js";
import { run } from "../../../../clients/load/run.js";

/** An HTTP server on a port of its own. */
export interface Listening {
  readonly url: string;
  readonly server: Server;
  close(): Promise<void>;
}

export async function listen(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    server,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The JSON of a request's body. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into any message
export async function bodyOf(request: IncomingMessage): Promise<any> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** The smallest MCP server: every request has an empty result. */
export function resultOf(id: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } });
}

/** A screen that is no terminal, and what was written to it. */
export function createScreen(): Screen & { readonly lines: string[] } {
  const lines: string[] = [];
  return { lines, write: (text) => lines.push(text) };
}

/** Runs a command line. */
export async function runLoad(argv: readonly string[], screen: Screen = createScreen()): Promise<Report> {
  const asked = readCommandLine(argv, {});
  if (asked === undefined) throw new Error("the command line asks for help");
  return run(asked.scenario, screen, new AbortController().signal);
}
