import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Sandbox, SandboxOptions } from "../sandbox.js";
import { BROKEN, detail, NO_SUCH_PATH, ok, type Reply } from "./replies.js";
import { route } from "./routes/routes.js";
import type { Body } from "./routes/writing.js";
import { seedWorld } from "./seed/seed.js";
import { createSignIn } from "./sign-in.js";

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

export interface GrcSandbox extends Sandbox {
  /** What was done, oldest first; the last ten thousand entries are kept. */
  readonly audit: readonly AuditEntry[];
  /** Ends every session, as a restart of the platform does. */
  endSessions(): void;
}

const MAX_BODY_BYTES = 1 << 20;
const MAX_AUDIT = 10_000;
const EXCHANGE = "/api/_allauth/app/v1/auth/provider/token";

/**
 * Starts a CISO-Assistant-compatible platform: its sign-in by OpenID
 * Connect token, its rights, its forms of answer and its refusals. It trusts
 * the issuer at `{trust}/xtm`.
 */
export async function startGrcSandbox(options: GrcSandboxOptions): Promise<GrcSandbox> {
  const world = seedWorld();
  const audit: AuditEntry[] = [];
  let url = "";
  const publicUrl = () => options.publicUrl ?? url;
  const signIn = createSignIn({
    world,
    issuerUrl: `${options.trust.replace(/\/+$/, "")}/xtm`,
    clientId: () => options.clientId ?? publicUrl(),
    audience: publicUrl,
  });

  async function answer(message: IncomingMessage): Promise<{ reply: Reply; email: string }> {
    const verb = message.method ?? "GET";
    const { pathname, searchParams } = new URL(message.url ?? "/", "http://platform");
    const anonymous = (reply: Reply) => ({ reply, email: "" });
    if (!pathname.startsWith("/api/")) return anonymous(NO_SUCH_PATH);
    const text = await bodyOf(message);
    if (text === undefined) return anonymous(detail(413, "Request body is too large."));
    if (pathname === EXCHANGE) {
      return anonymous(verb === "POST" ? await signIn.exchange(jsonOf(text)) : detail(405, "Method not allowed."));
    }
    if (pathname === "/api/health/") return anonymous(ok({ status: "ok" }));
    if (!pathname.endsWith("/")) return anonymous({ status: 301, headers: { location: `${pathname}/` } });
    const { authorization } = message.headers;
    const user = await signIn.userOf(authorization);
    if ("status" in user) return anonymous(user);
    const { email } = user;
    if (pathname === "/api/iam/logout/") return { reply: signIn.logout(authorization), email };
    const request = {
      verb,
      path: pathname.slice("/api/".length),
      query: searchParams,
      contentType: message.headers["content-type"] ?? "",
      body: () => JSON.parse(text) as Body,
    };
    return { reply: route(request, world, user), email };
  }

  const server = createServer((message, response) => {
    void answer(message)
      .catch(() => ({ reply: BROKEN, email: "" }))
      .then(({ reply, email }) => {
        send(response, reply, message.method === "HEAD");
        if (audit.length >= MAX_AUDIT) audit.shift();
        audit.push({
          at: new Date().toISOString(),
          email,
          verb: message.method ?? "",
          path: message.url ?? "",
          status: reply.status,
          userAgent: message.headers["user-agent"] ?? "",
        });
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  url = `http://${options.host}:${(server.address() as AddressInfo).port}`;

  return {
    url,
    audit,
    endSessions: () => signIn.endAll(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, { status, json, html, headers }: Reply, head: boolean): void {
  const text = html ?? (json === undefined ? "" : JSON.stringify(json));
  const type = html === undefined ? "application/json" : "text/html; charset=utf-8";
  response.writeHead(status, {
    ...(text !== "" && { "content-type": type, "content-length": Buffer.byteLength(text) }),
    ...headers,
  });
  response.end(head ? undefined : text);
}

/** Undefined for a body that is too large. */
async function bodyOf(message: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
