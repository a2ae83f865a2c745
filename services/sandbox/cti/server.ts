import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { v5 as uuidv5 } from "uuid";
import type { Sandbox, SandboxOptions } from "../sandbox.js";
import { type AuditEntry, createAudit } from "./audit.js";
import { answer, type GraphqlRequest } from "./execute.js";
import { VERSION } from "./operations/queries.js";
import { SDL } from "./sdl.js";
import { seedWorld } from "./seed/seed.js";
import { createTokenReader } from "./sign-in.js";
import { type Account, SANDBOX_USERS, type SandboxUser } from "./users.js";
import { clearAccounts, createWorld, type Settings } from "./world.js";

export interface CtiSandboxOptions extends SandboxOptions {
  readonly users?: readonly SandboxUser[];
  /** The same number gives the same objects. */
  readonly seed?: number;
  readonly settings?: Partial<Settings>;
}

export interface CtiSandbox extends Sandbox {
  /** The latest requests, oldest first. */
  readonly audit: readonly AuditEntry[];
}

const MAX_BODY_BYTES = 50 << 20;
const DRAFT_UNKNOWN = {
  message: "Could not find draft workspace",
  extensions: { code: "DRAFT_LOCKED", data: { http_status: 400, genre: "BUSINESS" } },
  name: "DRAFT_LOCKED",
};

/** Starts the built-in OpenCTI-compatible platform: its GraphQL API over HTTP, with its rights, rules and refusals. */
export async function startCtiSandbox(options: CtiSandboxOptions): Promise<CtiSandbox> {
  const { users = SANDBOX_USERS, seed = 7 } = options;
  const settings = { enforceReferences: [], historyDelayMs: 1_000, ...options.settings };
  let made = 0;
  const world = createWorld(users, settings, () => uuidv5(`account ${made++}`, uuidv5.URL));
  seedWorld(world, seed);
  clearAccounts(world);
  const accountOf = createTokenReader(options.trust.replace(/\/+$/, ""), world.accounts);
  const audit = createAudit();

  async function graphql(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    if (body === undefined) return send(response, 500, { status: "error", error: "request entity too large" });
    const given = parsed(request, body);
    if (given === undefined)
      return send(response, 400, badRequest("POST body missing, invalid Content-Type, or JSON object has no keys."));
    if (Array.isArray(given)) return send(response, 400, badRequest("Operation batching disabled."));
    const account = await accountOf(request.headers.authorization);
    const draft = draftOf(request, account);
    if (draft !== undefined && world.graph.get(draft)?.type !== "DraftWorkspace")
      return send(response, 500, { errors: [DRAFT_UNKNOWN] });
    const strict = ["1", "2"].includes(String(request.headers["opencti-retry-number"]));
    const reply = await answer(given as GraphqlRequest, { world, account, draft, strict });
    const header = request.headers["opencti-draft-id"];
    audit.record({
      at: new Date(),
      user: account?.email,
      userAgent: request.headers["user-agent"],
      fields: reply.fields,
      draft: header === undefined ? undefined : String(header),
      code: reply.code,
    });
    send(response, 200, reply.body);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", "http://platform");
    if (pathname === "/graphql") {
      if (request.method === "POST") return graphql(request, response);
      return send(response, 405, {
        name: "MethodNotAllowedError",
        message: "Method Not Allowed. Use POST for GraphQL requests.",
      });
    }
    if (pathname === "/schema" && request.method === "GET") {
      const account = await accountOf(request.headers.authorization);
      if (account === undefined) return text(response, 403, "Forbidden");
      return send(response, 200, { version: VERSION, schema: SDL });
    }
    text(response, 404, "Not Found");
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => {
      if (!response.headersSent) send(response, 500, { status: "error", error: "unexpected error" });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${options.host}:${port}`,
    audit: audit.entries,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The draft of a request: the header, even an empty one for live, else the one the account has open. */
function draftOf(request: IncomingMessage, account: Account | undefined): string | undefined {
  const header = request.headers["opencti-draft-id"];
  if (header === undefined) return account?.draft;
  return header === "" ? undefined : String(header);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return size > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks);
}

function parsed(request: IncomingMessage, body: Buffer): unknown {
  if (!String(request.headers["content-type"]).startsWith("application/json")) return undefined;
  try {
    const json: unknown = JSON.parse(body.toString("utf8"));
    return typeof json === "object" && json !== null && Object.keys(json).length > 0 ? json : undefined;
  } catch {
    return undefined;
  }
}

const badRequest = (message: string) => ({
  errors: [{ message, extensions: { code: "BAD_REQUEST" }, name: "BAD_REQUEST" }],
});

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(body));
}

function text(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(body);
}
