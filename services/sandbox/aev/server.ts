import { Audit } from "../audit.js";
import { type HttpReply, type HttpRequest, json, serve } from "../http.js";
import { Kept } from "../kept.js";
import { createRouter, type Match, type Miss } from "../router.js";
import type { Sandbox, SandboxOptions } from "../sandbox.js";
import { Bare, bareBody, ok, Refusal, type Reply } from "./replies.js";
import { needTenant } from "./rights.js";
import { atomicTestRoutes } from "./routes/atomic-tests.js";
import { belowRoutes } from "./routes/below.js";
import { catalogueRoutes } from "./routes/catalogue.js";
import { contractRoutes } from "./routes/contracts.js";
import { documentRoutes, readForm } from "./routes/documents.js";
import { expectationRoutes } from "./routes/expectations.js";
import { injectRoutes } from "./routes/injects.js";
import { kindRoutes } from "./routes/kinds.js";
import { lessonsRoutes, type Mail } from "./routes/lessons.js";
import { payloadRoutes } from "./routes/payloads.js";
import { planRoutes } from "./routes/plans.js";
import type { Answer, Route } from "./routes/route.js";
import { scenarioRoutes } from "./routes/scenarios.js";
import { simulationRoutes } from "./routes/simulations.js";
import { variableRoutes } from "./routes/variables.js";
import { advance } from "./runs.js";
import { seedWorld } from "./seed/seed.js";
import { createSignIn, type SignedIn } from "./sign-in.js";
import { PUBLIC_SETTINGS } from "./views/settings.js";
import { DEFAULT_TENANT, type World } from "./world.js";

/** What the built-in platform can be told besides where it listens. */
export interface AevSandboxOptions extends SandboxOptions {
  /** Milliseconds since the epoch, for the life of simulations; tokens live by the real time. */
  readonly now?: () => number;
}

/** What somebody did, for looking at who a request acted as. */
export interface AuditEntry {
  readonly at: number;
  /** "" for somebody who was not signed in. */
  readonly email: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly userAgent: string;
}

/** The running platform. */
export interface AevSandbox extends Sandbox {
  /** The last ten thousand requests, oldest first. */
  readonly audit: readonly AuditEntry[];
  /** Mails to players, oldest first. */
  readonly mails: readonly Mail[];
}

/** To a browser every refusal looks like this. */
const WHITELABEL: HttpReply = {
  status: 500,
  headers: { "content-type": "text/html" },
  body: "<html><body><h1>Whitelabel Error Page</h1></body></html>",
};
const MAX_BODY_BYTES = 4 << 20;

/**
 * Starts a platform with the API of an OpenAEV-compatible one, as far as the
 * aev tools use it, seeded with a few thousand linked objects in two tenants.
 * It holds everything in memory, and in a file where it is given one.
 *
 * @throws Error for a port that is taken.
 */
export async function startSandbox(options: AevSandboxOptions): Promise<AevSandbox> {
  const { trust, now = Date.now } = options;
  let url = "";
  const baseUrl = () => (options.publicUrl ?? url).replace(/\/+$/, "");
  const kept = new Kept<World>(options.file);
  const world = kept.before() ?? seedWorld(now());
  kept.follow(() => world);
  const mails: Mail[] = [];
  const signIn = createSignIn(world, trust, baseUrl);
  const find = finderOf([
    ...catalogueRoutes(world, baseUrl, trust),
    ...kindRoutes(world),
    ...documentRoutes(world),
    ...belowRoutes(world),
    ...lessonsRoutes(world, mails),
    ...scenarioRoutes(world),
    ...simulationRoutes(world),
    ...injectRoutes(world),
    ...expectationRoutes(world),
    ...contractRoutes(world),
    ...atomicTestRoutes(world),
    ...payloadRoutes(world),
    ...planRoutes(world),
    ...variableRoutes(world),
  ]);
  const audit = new Audit<AuditEntry>();

  /** @throws Bare or Refusal. */
  async function answer(request: HttpRequest, signedIn: (session: SignedIn) => void): Promise<Reply> {
    const { method, path, query, headers } = request;
    if (request.body === undefined) throw new Bare(400);
    if (method === "GET" && path === "/api/settings/public") return ok(PUBLIC_SETTINGS);
    const session = await signIn(method, headers);
    const { user } = session;
    if (user === undefined) return { status: 401, body: undefined };
    signedIn(session);

    const inTenant = /^\/api\/tenants\/([^/]+)(\/.*)$/.exec(path);
    if (inTenant === null && !path.startsWith("/api/")) throw new Bare(404);
    const tenant = inTenant?.[1] ?? DEFAULT_TENANT;
    if (inTenant !== null) needTenant(world, user, tenant);
    const found = find(method, inTenant?.[2] ?? path.slice("/api".length), inTenant !== null);
    if (found === "no path" || found === "no method") throw new Bare(found === "no path" ? 404 : 405);
    advance(world, now());
    const type = headers["content-type"];
    const body =
      type?.startsWith("multipart/form-data") === true ? await formOf(request, type) : jsonOf(request.body, type);
    const { ids } = found;
    return found.answer({ actor: { user, tenant }, ids, query, body, now: now() });
  }

  const server = await serve({
    ...options,
    maxBodyBytes: MAX_BODY_BYTES,
    kept,
    isWrite: ({ method, path }) => method !== "GET" && !path.endsWith("/search"),
    answer: async (request) => {
      const { method, path, headers } = request;
      let session: SignedIn | undefined;
      const asksForHtml = headers.accept?.includes("text/html") === true;
      const reply = await answer(request, (opened) => {
        session = opened;
      }).catch((error: unknown) => (asksForHtml ? undefined : refusalOf(error, path, now())));
      if (reply === undefined) return WHITELABEL;
      const email = session?.user?.email ?? "";
      const userAgent = headers["user-agent"] ?? "";
      audit.record({ at: now(), email, method, path, status: reply.status, userAgent });
      return httpOf(reply, session?.setCookie);
    },
  });
  url = server.url;
  return { ...server, audit: audit.entries, mails };
}

/** Finds routes below /api, or below a tenant, where those of the whole platform do not answer. */
function finderOf(routes: readonly Route[]): (method: string, path: string, inTenant: boolean) => Match<Answer> | Miss {
  const all = createRouter(routes);
  const tenants = createRouter(routes.filter((route) => route.global !== true));
  return (method, path, inTenant) => (inTenant ? tenants : all)(method, path);
}

function httpOf({ status, body, file }: Reply, setCookie: string | undefined): HttpReply {
  const headers = setCookie === undefined ? {} : { "set-cookie": setCookie };
  if (file !== undefined) return { status, headers: { ...headers, "content-type": file }, body: body as Uint8Array };
  return body === undefined ? { status, headers, body: "" } : json(status, body, headers);
}

function refusalOf(error: unknown, path: string, now: number): Reply {
  if (error instanceof Refusal) return error;
  const status = error instanceof Bare ? error.status : 500;
  return { status, body: bareBody(status, path, now) };
}

/** The parts of a form. @throws Bare 400 for none. */
function formOf({ bytes }: HttpRequest, type: string): Promise<FormData> {
  const body = new Response(Uint8Array.from(bytes), { headers: { "content-type": type } });
  return body.formData().then(readForm, () => {
    throw new Bare(400);
  });
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
