import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { vectorOf } from "./plain-embedder.js";

/** Embedding endpoints as hostile people run them: the first part of the path says how each answers. */
export interface EndpointServer {
  /** @param how good, silent, huge, longer or text. @param whose tells it from others. */
  url(how: string, whose?: string): string;
  /** The texts that an endpoint was asked for, in the order in which they came. */
  asked(whose: string): readonly string[];
  close(): Promise<void>;
}

export async function startEndpoints(): Promise<EndpointServer> {
  const asked = new Map<string, string[]>();
  const server: Server = createServer((req, res) => {
    const [, how, whose = ""] = (req.url as string).split("/");
    let body = "";
    req.on("data", (part) => {
      body += part;
    });
    req.on("end", () => {
      const { input } = JSON.parse(body) as { input: string[] };
      asked.set(whose, [...(asked.get(whose) ?? []), ...input]);
      // Documents are embedded well, so that there is something to ask about.
      const isDocument = input[0]?.includes("\n") === true;
      if (how === "silent" && !isDocument) return;
      res.writeHead(200, { "content-type": "application/json" });
      if (how === "text" && !isDocument) return res.end("[".repeat(100_000));
      res.end(
        JSON.stringify({ data: input.map((text, index) => ({ index, embedding: embedding(isDocument, how, text) })) }),
      );
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    url: (how, whose = how) => `http://127.0.0.1:${port}/${how}/${whose}`,
    asked: (whose) => asked.get(whose) ?? [],
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}

function embedding(isDocument: boolean, how: string | undefined, text: string): number[] {
  if (how === "huge" && !isDocument) return new Array(7_000_000).fill(1);
  if (how === "longer" && !isDocument) return [1, 0, 0];
  return [...vectorOf(text)];
}
