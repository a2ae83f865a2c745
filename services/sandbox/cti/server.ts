import { v5 as uuidv5 } from "uuid";
import { Audit } from "../audit.js";
import { type HttpReply, type HttpRequest, json, serve } from "../http.js";
import { Kept } from "../kept.js";
import { createRouter } from "../router.js";
import type { Sandbox, SandboxOptions } from "../sandbox.js";
import type { Account, SandboxUser } from "./account.js";
import { answer, type GraphqlRequest } from "./execute.js";
import { VERSION } from "./operations/queries.js";
import { SDL } from "./sdl.js";
import { seedWorld } from "./seed/seed.js";
import { SANDBOX_USERS } from "./seed/users.js";
import { createSignIn } from "./sign-in.js";
import { clearAccounts, createWorld, type KeptWorld, keptOf, type Settings } from "./world.js";

/** What the built-in platform can be told besides where it listens; a fixed world where nothing is. */
export interface CtiSandboxOptions extends SandboxOptions {
  readonly users?: readonly SandboxUser[];
  /** The same number gives the same objects. */
  readonly seed?: number;
  readonly settings?: Partial<Settings>;
}

/** One request that the platform answered, as its administrators see it. */
export interface AuditEntry {
  readonly at: Date;
  /** The account that the token signed in; undefined for nobody. */
  readonly user: string | undefined;
  readonly userAgent: string | undefined;
  /** The root fields asked for. */
  readonly fields: readonly string[];
  /** The draft header: "" is live, undefined is not sent. */
  readonly draft: string | undefined;
  /** The code of its first error. */
  readonly code: string | undefined;
}

/** The running platform. */
export interface CtiSandbox extends Sandbox {
  /** The latest requests, oldest first. */
  readonly audit: readonly AuditEntry[];
}

type Answer = (request: HttpRequest) => Promise<HttpReply>;

const MAX_BODY_BYTES = 50 << 20;
const DRAFT_UNKNOWN = {
  message: "Could not find draft workspace",
  extensions: { code: "DRAFT_LOCKED", data: { http_status: 400, genre: "BUSINESS" } },
  name: "DRAFT_LOCKED",
};

/**
 * Starts the built-in OpenCTI-compatible platform: its GraphQL API over HTTP,
 * with its rights, rules and refusals.
 *
 * @throws Error for a port that is taken.
 */
export async function startSandbox(options: CtiSandboxOptions): Promise<CtiSandbox> {
  const { users = SANDBOX_USERS, seed = 7 } = options;
  const settings = { enforceReferences: [], historyDelayMs: 1_000, ...options.settings };
  let made = 0;
  const kept = new Kept<KeptWorld>(options.file);
  const before = kept.before();
  const world = createWorld(users, settings, () => uuidv5(`account ${made++}`, uuidv5.URL), before);
  if (before === undefined) seedWorld(world, seed);
  kept.follow(() => keptOf(world));
  clearAccounts(world);
  const signIn = createSignIn(options.trust.replace(/\/+$/, ""), world.accounts);
  const audit = new Audit<AuditEntry>();

  const graphql: Answer = async (request) => {
    if (request.body === undefined) return json(500, { status: "error", error: "request entity too large" });
    const given = objectIn(request);
    if (given === undefined) return badRequest("POST body missing, invalid Content-Type, or JSON object has no keys.");
    if (Array.isArray(given)) return badRequest("Operation batching disabled.");
    const { headers } = request;
    const account = await signIn(headers.authorization);
    const draft = draftOf(request, account);
    if (draft !== undefined && world.graph.get(draft)?.type !== "DraftWorkspace")
      return json(500, { errors: [DRAFT_UNKNOWN] });
    const strict = ["1", "2"].includes(String(headers["opencti-retry-number"]));
    const reply = await answer(given as GraphqlRequest, { world, account, draft, strict });
    const header = headers["opencti-draft-id"];
    audit.record({
      at: new Date(),
      user: account?.email,
      userAgent: headers["user-agent"],
      fields: reply.fields,
      draft: header === undefined ? undefined : String(header),
      code: reply.code,
    });
    return json(200, reply.body);
  };

  const schema: Answer = async ({ headers }) => {
    const account = await signIn(headers.authorization);
    return account === undefined ? text(403, "Forbidden") : json(200, { version: VERSION, schema: SDL });
  };

  const find = createRouter<Answer>([
    { method: "POST", path: "/graphql", answer: graphql },
    { method: "GET", path: "/schema", answer: schema },
  ]);
  const server = await serve({
    ...options,
    maxBodyBytes: MAX_BODY_BYTES,
    kept,
    isWrite: ({ body }) => body?.includes("mutation") === true,
    answer: async (request) => {
      const found = find(request.method, request.path);
      if (found === "no path") return text(404, "Not Found");
      if (found === "no method") return NOT_ALLOWED;
      return found.answer(request).catch(() => json(500, { status: "error", error: "unexpected error" }));
    },
  });
  return { ...server, audit: audit.entries };
}

/** The draft of a request: the header, even an empty one for live, else the one the account has open. */
function draftOf({ headers }: HttpRequest, account: Account | undefined): string | undefined {
  const header = headers["opencti-draft-id"];
  if (header === undefined) return account?.draft;
  return header === "" ? undefined : String(header);
}

function objectIn({ headers, body = "" }: HttpRequest): unknown {
  if (!String(headers["content-type"]).startsWith("application/json")) return undefined;
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && Object.keys(value).length > 0 ? value : undefined;
  } catch {
    return undefined;
  }
}

const badRequest = (message: string): HttpReply =>
  json(400, { errors: [{ message, extensions: { code: "BAD_REQUEST" }, name: "BAD_REQUEST" }] });

const NOT_ALLOWED = json(405, {
  name: "MethodNotAllowedError",
  message: "Method Not Allowed. Use POST for GraphQL requests.",
});

const text = (status: number, body: string): HttpReply => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body,
});
