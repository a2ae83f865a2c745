import { Audit } from "../audit.js";
import { type HttpReply, type HttpRequest, json, serve } from "../http.js";
import { Kept } from "../kept.js";
import type { Sandbox, SandboxOptions } from "../sandbox.js";
import { BROKEN, detail, NO_SUCH_PATH, ok, type Reply } from "./replies.js";
import { answer as answerUser } from "./routes/routes.js";
import { seedWorld } from "./seed/seed.js";
import { seedUser } from "./seed/users.js";
import { createSignIn } from "./sign-in.js";
import { type KeptWorld, World } from "./world.js";

/** What the built-in platform can be told besides where it listens. */
export interface GrcSandboxOptions extends SandboxOptions {
  /** The client id of its OpenID Connect settings; what it calls itself where left out. */
  readonly clientId?: string;
}

/** What somebody did, as the platform wrote it down. */
export interface AuditEntry {
  readonly at: string;
  /** "" for somebody who was not signed in. */
  readonly email: string;
  readonly verb: string;
  readonly path: string;
  readonly status: number;
  readonly userAgent: string;
}

/** The running platform. */
export interface GrcSandbox extends Sandbox {
  /** What was done, oldest first; the last ten thousand entries are kept. */
  readonly audit: readonly AuditEntry[];
  /** Ends every session, as a restart of the platform does. */
  endSessions(): void;
  /** Takes every role of an account away, as an administrator of the platform does; gives back what gives them back. */
  takeRoles(email: string): () => void;
  /** Makes an account with one role in a domain, as an administrator of the platform does. */
  admit(email: string, folder: string, codenames: readonly string[]): void;
}

const MAX_BODY_BYTES = 1 << 20;
const EXCHANGE = "/api/_allauth/app/v1/auth/provider/token";

/**
 * Starts a CISO-Assistant-compatible platform: its sign-in by OpenID
 * Connect token, its rights, its forms of answer and its refusals. It trusts
 * the issuer at `{trust}/xtm`.
 *
 * @throws Error for a port that is taken.
 */
export async function startSandbox(options: GrcSandboxOptions): Promise<GrcSandbox> {
  const kept = new Kept<KeptWorld>(options.file);
  const before = kept.before();
  const world = before === undefined ? seedWorld() : new World(before.rootId, before);
  kept.follow(() => world.kept);
  const audit = new Audit<AuditEntry>();
  let url = "";
  const publicUrl = () => options.publicUrl ?? url;
  const signIn = createSignIn({
    world,
    issuerUrl: `${options.trust.replace(/\/+$/, "")}/xtm`,
    clientId: () => options.clientId ?? publicUrl(),
    audience: publicUrl,
  });

  async function answer(request: HttpRequest, signedInAs: (email: string) => void): Promise<Reply> {
    const { method, path, headers, body, bytes, query } = request;
    if (!path.startsWith("/api/")) return NO_SUCH_PATH;
    if (body === undefined) return detail(413, "Request body is too large.");
    if (path === EXCHANGE) {
      return method === "POST" ? await signIn.exchange(jsonOf(body)) : detail(405, "Method not allowed.");
    }
    if (path === "/api/health/") return ok({ status: "ok" });
    if (!path.endsWith("/")) return { status: 301, headers: { location: `${path}/` } };
    const { authorization } = headers;
    const user = await signIn.userOf(authorization);
    if ("status" in user) return user;
    signedInAs(user.email);
    if (path === "/api/iam/logout/") return signIn.logout(authorization);
    const contentType = headers["content-type"] ?? "";
    const disposition = headers["content-disposition"] ?? "";
    return answerUser({ method, path, query, contentType, body, disposition, bytes }, world, user);
  }

  const server = await serve({
    ...options,
    maxBodyBytes: MAX_BODY_BYTES,
    kept,
    isWrite: ({ method, path }) => method !== "GET" && method !== "HEAD" && path !== EXCHANGE,
    answer: async (request) => {
      let email = "";
      const reply = await answer(request, (signedIn) => {
        email = signedIn;
      }).catch(() => BROKEN);
      audit.record({
        at: new Date().toISOString(),
        email,
        verb: request.method,
        path: request.path,
        status: reply.status,
        userAgent: request.headers["user-agent"] ?? "",
      });
      return httpOf(reply);
    },
  });
  url = server.url;
  function takeRoles(email: string): () => void {
    const user = world.userOf(email);
    if (user === undefined) throw new Error(`${email} has no account`);
    world.users.set(user.email, { ...user, grants: [] });
    return () => void world.users.set(user.email, user);
  }
  function admit(email: string, folder: string, codenames: readonly string[]): void {
    const role = { code: "Made for it", group: "Made for it", codenames: new Set(codenames) };
    seedUser(world, email, [{ folder, role }], true, new Date().toISOString());
  }
  return { ...server, audit: audit.entries, endSessions: () => signIn.endAll(), takeRoles, admit };
}

function httpOf({ status, json: value, html, file, headers = {} }: Reply): HttpReply {
  if (file !== undefined) return { status, headers: { "content-type": file.mediaType, ...headers }, body: file.bytes };
  if (html !== undefined) {
    return { status, headers: { "content-type": "text/html; charset=utf-8", ...headers }, body: html };
  }
  return value === undefined ? { status, headers, body: "" } : json(status, value, headers);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
