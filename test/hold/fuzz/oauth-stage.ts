import { AuthorizationServerService } from "#proto/auth/v1/authorization_server_service_pb.js";
import { startStack } from "../../services/auth/stack.js";
import { Browser } from "../../support/oauth/browser.js";
import { authorizeUrl } from "../../support/oauth/by-hand.js";
import { nativeClient } from "../../support/oauth/client-state.js";
import { startEnterpriseIdp } from "../../support/oauth/enterprise-idp.js";
import { LOOPBACK } from "../../support/outgoing.js";

export const BASE = "https://sallyport.example";
export const RESOURCE = `${BASE}/mcp/cti`;
export const CALLBACK = "http://127.0.0.1:7/callback";
export const VERIFIER = "x".repeat(43);
const PASSWORD = "a-password-of-the-fuzzing-person";
const NULL_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** A page of ours in the middle of a connection. */
export interface OpenPage {
  readonly path: string;
  readonly csrf: string;
  readonly cookie: string;
}

/** What is good at the moment, for requests that mean well in all but one thing. */
export interface Known {
  readonly clientId: string;
  readonly code: string;
  readonly refreshToken: string;
  readonly accessToken: string;
  readonly signIn: OpenPage;
  readonly consent: OpenPage;
}

/** A request as a façade passes it on. */
export interface Passed {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: Uint8Array;
  readonly address: string;
}

/** The authorization server with a client, a person who is signed in, and a company's provider. */
export async function startOauthStage() {
  const idp = await startEnterpriseIdp();
  const idJagIssuers = [{ url: idp.issuer, algorithms: ["RS256"] }];
  const stack = await startStack({ idJagIssuers, outgoing: LOOPBACK } as never);
  const { admin, analyst, serviceKey } = stack.secrets;
  const pass = (request: Passed) =>
    stack.as(serviceKey, AuthorizationServerService.method.handleHttp, { ...request, headers: [...request.headers] });

  const ask = (async (input: URL, { method = "GET", headers = {}, body }: RequestInit = {}) => {
    const { pathname, search } = new URL(input);
    const sent = Object.entries(headers as Record<string, string>).map(([name, value]) => ({ name, value }));
    const type = typeof body === "string" ? "application/json" : "application/x-www-form-urlencoded";
    if (body !== undefined) sent.push({ name: "content-type", value: type });
    const bytes = Buffer.from(body === undefined ? "" : String(body));
    const target = `${pathname}${search}`;
    const reply = await pass({ method, target, headers: sent, body: bytes, address: "192.0.2.1" });
    return new Response(NULL_BODY.has(reply.status) ? null : Buffer.from(reply.body), {
      status: reply.status,
      headers: reply.headers.map(({ name, value }): [string, string] => [name, value]),
    });
  }) as unknown as typeof fetch;

  const metadata = JSON.stringify(nativeClient(CALLBACK));
  const registered = await ask(new URL(`${BASE}/oauth/register`), { method: "POST", body: metadata });
  const { client_id: clientId } = (await registered.json()) as { client_id: string };
  const client = { base: BASE, clientId, callback: CALLBACK };
  const url = (): URL => authorizeUrl(client, { resource: RESOURCE }, VERIFIER);
  /** A browser of the person, who has chosen a password of her own at the first sign-in. */
  const browserOf = (password: string): Browser =>
    new Browser(
      { email: admin.email, password, current: password, next: PASSWORD, answer: "allow", write: "yes" },
      ask,
    );
  await browserOf(admin.password).follow(url(), CALLBACK);

  async function codeOf(person: Browser): Promise<string> {
    const back = await person.follow(url(), CALLBACK);
    return back.searchParams.get("code") ?? "";
  }

  /** The first page that a browser is shown. */
  async function pageOf(browser: Browser): Promise<OpenPage> {
    let at = url();
    for (;;) {
      const reply = await browser.fetch(at);
      const location = reply.headers.get("location");
      if (location === null) {
        const csrf = /name="csrf" value="([^"]*)/.exec(await reply.text())?.[1] ?? "";
        const cookie = browser.cookies().map(([name, value]) => `${name}=${value}`);
        return { path: at.pathname, csrf, cookie: cookie.join("; ") };
      }
      at = new URL(location, at);
    }
  }

  return {
    idp,
    pass,
    /** Of another person than the one who is signed in: failed sign-ins make that one wait. */
    email: analyst.email,
    /** Makes new ones of what is used up. */
    async renew(): Promise<Known> {
      // Inputs have changed what they know of the one before.
      const person = browserOf(PASSWORD);
      const code = await codeOf(person);
      const form = new URLSearchParams({
        ...{ grant_type: "authorization_code", client_id: clientId, redirect_uri: CALLBACK, code },
        ...{ code_verifier: VERIFIER, resource: RESOURCE },
      });
      const reply = await ask(new URL(`${BASE}/oauth/token`), { method: "POST", body: form });
      const tokens = (await reply.json()) as { access_token: string; refresh_token: string };
      return {
        clientId,
        code: await codeOf(person),
        refreshToken: tokens.refresh_token,
        accessToken: tokens.access_token,
        signIn: await pageOf(new Browser({}, ask)),
        consent: await pageOf(person),
      };
    },
    async close(): Promise<void> {
      await stack.close();
      await idp.close();
    },
  };
}
