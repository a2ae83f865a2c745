import { createHash, randomBytes } from "node:crypto";
import type { Browser } from "./browser.js";
import { nativeClient, type Tokens } from "./client-state.js";

// The steps of a connection one by one, as no SDK takes them.

/** An authorization server, and a client that registered itself there. */
export interface Registered {
  /** The public base URL. */
  readonly base: string;
  readonly clientId: string;
  readonly callback: string;
}

/** A code, and what is needed to redeem it. */
export interface Code extends Registered {
  readonly code: string;
  readonly verifier: string;
  readonly resource: string;
}

const CALLBACK = "http://127.0.0.1:41999/callback";

/** Registers a client. */
export async function register(base: string, metadata: object = nativeClient(CALLBACK)): Promise<Registered> {
  const reply = await fetch(`${base}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(metadata),
  });
  const answer = (await reply.json()) as { client_id?: string; redirect_uris?: string[] };
  const { client_id: clientId, redirect_uris: [callback] = [] } = answer;
  if (clientId === undefined || callback === undefined) {
    throw new Error(`the registration was refused with ${reply.status}: ${JSON.stringify(answer)}`);
  }
  return { base, clientId, callback };
}

/** The address that a client sends its person to. */
export function authorizeUrl(
  { base, clientId, callback }: Registered,
  more: Readonly<Record<string, string>>,
  verifier = "",
): URL {
  const url = new URL(`${base}/oauth/authorize`);
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: callback,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    state: "the-state",
    ...more,
  }).toString();
  return url;
}

/** Has a person allow a client one server. */
export async function allow(client: Registered, server: string, browser: Browser): Promise<Code> {
  const verifier = randomBytes(32).toString("base64url");
  const resource = `${client.base}/mcp/${server}`;
  const back = await browser.follow(authorizeUrl(client, { resource }, verifier), client.callback);
  const code = back.searchParams.get("code");
  if (code === null) throw new Error(`no code: ${back.search}`);
  return { ...client, code, verifier, resource };
}

/** The answer of the token endpoint. */
export interface TokenReply {
  readonly status: number;
  readonly body: Partial<Tokens> & { readonly error?: string; readonly error_description?: string };
}

/** Asks the token endpoint. */
export async function askForTokens(base: string, form: Readonly<Record<string, string>>): Promise<TokenReply> {
  const reply = await fetch(`${base}/oauth/token`, { method: "POST", body: new URLSearchParams(form) });
  return { status: reply.status, body: (await reply.json()) as TokenReply["body"] };
}

/** Redeems a code. */
export function redeem({ base, clientId, callback, code, verifier, resource }: Code): Promise<TokenReply> {
  return askForTokens(base, {
    grant_type: "authorization_code",
    client_id: clientId,
    redirect_uri: callback,
    code,
    code_verifier: verifier,
    resource,
  });
}

/** Exchanges a refresh token. */
export function refresh(
  { base, clientId }: Registered,
  token: string,
  more: Readonly<Record<string, string>> = {},
): Promise<TokenReply> {
  return askForTokens(base, { grant_type: "refresh_token", client_id: clientId, refresh_token: token, ...more });
}

/** Registers, has a person allow, and redeems. */
export async function connectByHand(
  base: string,
  server: string,
  browser: Browser,
): Promise<Code & { tokens: Tokens }> {
  const allowed = await allow(await register(base), server, browser);
  const { status, body } = await redeem(allowed);
  if (status !== 200) throw new Error(`${status} ${body.error}: ${body.error_description}`);
  return { ...allowed, tokens: body as Tokens };
}
