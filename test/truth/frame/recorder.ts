import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Exchange, IdFacts } from "../../support/platforms/recording.js";
import { jointShapeOf, type Shape } from "../../support/platforms/shape.js";

/** What distinguishes one platform's exchanges from another's. */
export interface Recorded {
  /** Its address. */
  readonly target: string;
  /** Who asks, by a name that is the same at each run; told of what a request and its answer show. */
  readonly personOf: (request: { readonly authorization: string; readonly body: string }, answer: string) => string;
  /** Exchanges that are not kept, such as signing in. */
  readonly isLeftOut: (path: string) => boolean;
  /** The name of an object of ours by its id; undefined for others. */
  readonly keyOf: (id: string) => string | undefined;
  /** Takes what is new at each run out of a text. */
  readonly plain: (text: string) => string;
  /** What makes an exchange of another kind than those that are kept; its person, path and names of fields where left out. */
  readonly kindOf?: (exchange: { readonly as: string; readonly body: unknown; readonly answer: unknown }) => unknown;
}

/** Stands between the product and the platform, and keeps what went over. */
export interface Recorder {
  readonly url: string;
  /** Writes recordings/NAME.jsonl: hashed, with the version that answered. */
  write(file: string, platform: string, version: string): void;
  stop(): Promise<void>;
}

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
/** A recording is no larger than this: further kinds of exchanges are counted and left out. */
const MAX_BYTES = 850_000;

/** Starts one. */
export async function startRecorder(recorded: Recorded): Promise<Recorder> {
  const kept = new Map<string, Omit<Exchange, "line" | "shape"> & { shape?: number }>();
  const facts: Record<string, IdFacts> = {};
  // Said once each: people of different rights are mostly answered in one shape.
  const shapes = new Map<string, number>();
  let count = 0;
  let bytes = 0;

  /** An id that is the same at each run, for an object that is the same at each run. */
  function stable(text: string): string {
    return text.replace(ID, (id) => {
      const key = recorded.keyOf(id.toLowerCase());
      const known = key === undefined ? "another" : key;
      const hex = createHash("sha256").update(known).digest("hex");
      const same = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
      facts[same] = { type: known };
      return same;
    });
  }

  function keep(request: IncomingMessage, sent: string, status: number, said: string): void {
    const url = new URL(request.url ?? "/", recorded.target);
    const authorization = request.headers.authorization ?? "";
    const as = recorded.personOf({ authorization, body: sent }, said);
    count++;
    if (recorded.isLeftOut(url.pathname)) return;
    const query: Record<string, string[]> = {};
    for (const [name, value] of url.searchParams) {
      query[name] = [...(query[name] ?? []), recorded.plain(stable(value))];
    }
    const given = sent === "" ? undefined : parsed(recorded.plain(stable(sent)));
    // A file on its way up is no question whose answer could be compared.
    const plain = given === NO_JSON ? undefined : given;
    const answer = said === "" ? undefined : parsed(said);
    const tool = /tool=(\w+)/.exec(request.headers["user-agent"] ?? "")?.[1] ?? "";
    const path = stable(url.pathname);
    const shape: Shape | undefined = answer === NO_JSON ? undefined : jointShapeOf(answer);
    const shapeText = shape === undefined ? undefined : JSON.stringify(shape);
    const isNewShape = shapeText !== undefined && !shapes.has(shapeText);
    const exchange = {
      name: tool,
      as,
      method: request.method ?? "GET",
      path,
      ...(Object.keys(query).length > 0 && { query }),
      ...(plain !== undefined && { body: plain }),
      status,
      ...(shapeText !== undefined && { shape: shapes.get(shapeText) ?? shapes.size }),
    };
    const kind = [as, exchange.method, path, Object.keys(query).sort(), Object.keys(plain ?? {}).sort(), status];
    const key = JSON.stringify(recorded.kindOf?.({ as, body: plain, answer }) ?? kind);
    const size = JSON.stringify(exchange).length + (isNewShape ? shapeText.length : 0);
    if (kept.has(key) || bytes + size > MAX_BYTES) return;
    bytes += size;
    if (isNewShape) shapes.set(shapeText, shapes.size);
    kept.set(key, exchange);
  }

  const server = createServer(async (request, response) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const sent = Buffer.concat(chunks);
      const headers = Object.entries(request.headers).filter(([name]) => !HOP.has(name)) as [string, string][];
      const reply = await fetch(new URL(request.url ?? "/", recorded.target), {
        method: request.method ?? "GET",
        redirect: "manual",
        // The platform ends idle connections when it likes.
        headers: [...headers, ["connection", "close"]],
        ...(sent.length > 0 && { body: sent }),
      });
      const said = Buffer.from(await reply.arrayBuffer());
      keep(request, sent.toString(), reply.status, said.toString());
      const type = reply.headers.get("content-type");
      response.writeHead(reply.status, type === null ? {} : { "content-type": type }).end(said);
    } catch {
      response.destroy();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    write(file, platform, version) {
      const lines = [...kept.values()].map((one, i) => `${JSON.stringify({ line: i + 1, ...one })}\n`).join("");
      const told = [...shapes.keys()].map((one) => JSON.parse(one) as Shape);
      const sha256 = createHash("sha256").update(lines).update(JSON.stringify(told)).digest("hex");
      const header = { platform, version, recorded: count, exchanges: kept.size, sha256, ids: facts, shapes: told };
      writeFileSync(file, `${JSON.stringify(header)}\n${lines}`);
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const HOP = new Set(["host", "connection", "content-length", "transfer-encoding", "keep-alive"]);
const NO_JSON = Symbol("no JSON");

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return NO_JSON;
  }
}
