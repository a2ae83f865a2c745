import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Sandbox, SandboxOptions } from "../sandbox.js";
import { Bare, bareBody, Refusal, type Reply } from "./replies.js";
import { needTenant } from "./rights.js";
import { createRouter } from "./router.js";
import { catalogueRoutes } from "./routes/catalogue.js";
import { scenarioRoutes } from "./routes/scenarios.js";
import { simulationRoutes } from "./routes/simulations.js";
import { advance } from "./runs.js";
import { seedWorld } from "./seed/seed.js";
import { createSignIn } from "./sign-in.js";
import { createTokenVerifier } from "./tokens.js";
import { PUBLIC_SETTINGS } from "./views/settings.js";
import { DEFAULT_TENANT } from "./world.js";

export interface AevSandboxOptions extends SandboxOptions {
  /** Milliseconds since the epoch, for the life of simulations; tokens live by the real time. */
  readonly now?: () => number;
}

/** What somebody did, for looking at who a request acted as. */
export interface AuditEntry {
  readonly at: number;
  readonly email: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly userAgent: string;
}

export interface AevSandbox extends Sandbox {
  /** The last ten thousand requests, oldest first. */
  readonly audit: readonly AuditEntry[];
}

/** To a browser every refusal looks like this. */
const WHITELABEL = "<html><body><h1>Whitelabel Error Page</h1></body></html>";
const MAX_BODY_BYTES = 1 << 20;
const MAX_AUDIT = 10_000;

/**
 * Starts a platform with the API of an OpenAEV-compatible one, as far as the
 * aev tools use it, seeded with a few thousand linked objects in two tenants.
 * It holds everything in memory.
 */
export async function startAevSandbox(options: AevSandboxOptions): Promise<AevSandbox> {
  const { host, port, trust, now = Date.now } = options;
  let url = "";
  const baseUrl = () => (options.publicUrl ?? url).replace(/\/+$/, "");
  const world = seedWorld(now());
  const signIn = createSignIn(world, createTokenVerifier({ trust, audience: baseUrl, now: Date.now }), Date.now);
  const route = createRouter([
    ...catalogueRoutes(world, baseUrl, trust),
    ...scenarioRoutes(world),
    ...simulationRoutes(world),
  ]);
  const audit: AuditEntry[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? "GET";
    const { pathname: path, searchParams: query } = new URL(request.url ?? "/", "http://sandbox");
    let email = "";
    const send = ({ status, body }: Reply) => {
      if (audit.length >= MAX_AUDIT) audit.shift();
      audit.push({ at: now(), email, method, path, status, userAgent: request.headers["user-agent"] ?? "" });
      const text = body === undefined ? "" : JSON.stringify(body);
      response.writeHead(status, text === "" ? {} : { "content-type": "application/json" }).end(text);
    };
    try {
      const text = await bodyOf(request);
      if (method === "GET" && path === "/api/settings/public") return send({ status: 200, body: PUBLIC_SETTINGS });
      const { user, setCookie } = await signIn(method, request.headers);
      if (setCookie !== undefined) response.setHeader("set-cookie", setCookie);
      if (user === undefined) return send({ status: 401, body: undefined });
      email = user.email;

      const inTenant = /^\/api\/tenants\/([^/]+)(\/.*)$/.exec(path);
      if (inTenant === null && !path.startsWith("/api/")) throw new Bare(404);
      const tenant = inTenant?.[1] ?? DEFAULT_TENANT;
      if (inTenant !== null) needTenant(world, user, tenant);
      const { route: found, ids } = route(method, inTenant?.[2] ?? path.slice("/api".length), inTenant !== null);
      advance(world, now());
      const body = jsonOf(text, request.headers["content-type"]);
      send(found.answer({ actor: { user, tenant }, ids, query, body, now: now() }));
    } catch (error) {
      if (request.headers.accept?.includes("text/html") === true) {
        response.writeHead(500, { "content-type": "text/html" }).end(WHITELABEL);
        return;
      }
      if (error instanceof Refusal) return send({ status: error.status, body: error.body });
      const status = error instanceof Bare ? error.status : 500;
      send({ status, body: bareBody(status, path, now()) });
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  url = `http://${host}:${(server.address() as AddressInfo).port}`;
  return {
    url,
    audit,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Bare(400);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function jsonOf(text: string, contentType: string | undefined): unknown {
  if (text === "") return undefined;
  if (contentType?.startsWith("application/json") !== true) throw new Bare(415);
  try {
    return JSON.parse(text);
  } catch {
    throw new Bare(400);
  }
}
