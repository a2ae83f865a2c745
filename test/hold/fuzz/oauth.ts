import { createHash } from "node:crypto";
import { ConnectError } from "@connectrpc/connect";
import type { EnterpriseIdp } from "../../support/oauth/enterprise-idp.js";
import {
  BASE,
  CALLBACK,
  type Known,
  type OpenPage,
  type Passed,
  RESOURCE,
  startOauthStage,
  VERIFIER,
} from "./oauth-stage.js";
import { changedBytes, changedJson, type Random } from "./random.js";
import { type FuzzTarget, wordsOf } from "./target.js";

const FORM = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/json";
/** After this many inputs, codes, tokens and pages that were used up are made again. */
const FRESH_FOR = 100;
/** So many addresses send them: one may not register as many clients, or fail to sign in as often. */
const ADDRESSES = 250;

interface Meant {
  readonly method: "GET" | "POST" | "OPTIONS";
  readonly path: string;
  readonly type?: string;
  readonly cookie?: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface Stage {
  readonly known: Known;
  readonly email: string;
  readonly idp: EnterpriseIdp;
  readonly random: Random;
}
type Kind = (stage: Stage) => Meant | Promise<Meant>;

const token = (fields: Meant["fields"]): Meant => ({ method: "POST", path: "/oauth/token", type: FORM, fields });
const sent = ({ path, cookie }: OpenPage, fields: Meant["fields"]): Meant => ({
  ...{ method: "POST", path, type: FORM, cookie, fields },
});

/** The requests that clients and browsers send to the authorization server, as they are when they mean well. */
const KINDS: readonly Kind[] = [
  ({ random }) => ({ method: "GET", path: random.pick(PUBLIC), fields: {} }),
  ({ known, random }) => ({
    ...{ method: "GET", path: "/oauth/authorize" },
    fields: {
      ...{ response_type: "code", client_id: known.clientId, redirect_uri: CALLBACK, scope: "cti:read" },
      ...{ state: "s", resource: RESOURCE, code_challenge_method: "S256" },
      code_challenge: createHash("sha256").update(VERIFIER).digest("base64url"),
      ...(random.once(3) && random.pick(MORE)),
    },
  }),
  ({ known }) =>
    token({
      ...{ grant_type: "authorization_code", code: known.code, redirect_uri: CALLBACK, client_id: known.clientId },
      ...{ code_verifier: VERIFIER, resource: RESOURCE },
    }),
  ({ known }) =>
    token({
      ...{ grant_type: "refresh_token", refresh_token: known.refreshToken, client_id: known.clientId },
      ...{ scope: "cti:read", resource: RESOURCE },
    }),
  async (stage) =>
    token({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      ...{ assertion: await assertionOf(stage), client_id: stage.known.clientId },
    }),
  ({ known, random }) => ({
    ...{ method: "POST", path: "/oauth/revoke", type: FORM },
    fields: { token: random.once(2) ? known.refreshToken : known.accessToken, client_id: known.clientId },
  }),
  ({ random }) => ({
    ...{ method: random.once(20) ? "OPTIONS" : "POST", path: "/oauth/register", type: JSON_TYPE },
    fields: {
      ...{ client_name: "Fuzz", redirect_uris: [CALLBACK], token_endpoint_auth_method: "none" },
      ...{ grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] },
      ...(random.once(2) && random.pick(CLAIMED)),
    },
  }),
  ({ known: { signIn, consent }, random }) => {
    const { path, cookie } = random.once(2) ? signIn : consent;
    return { method: "GET", path, cookie, fields: {} };
  },
  ({ known: { consent }, random }) =>
    sent(consent, { csrf: consent.csrf, answer: random.pick(["allow", "deny", "switch", ""]), write: "yes" }),
  ({ known: { signIn }, email }) => sent(signIn, { csrf: signIn.csrf, email, password: "wrong" }),
  ({ known: { signIn } }) => sent(signIn, { csrf: signIn.csrf, current: "wrong", next: "a password that nobody has" }),
];

const PUBLIC = [
  ...["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", "/oauth/jwks"],
  ...["/oauth/pages.css", "/oauth/nowhere", "/oauth/token", `/oauth/interaction/${"a".repeat(21)}`],
];
/** What a request for authorization may say in addition. */
const MORE: readonly Meant["fields"][] = [
  { prompt: "login" },
  { prompt: "none" },
  { prompt: "consent select_account" },
  { max_age: "0" },
  { login_hint: "somebody@example.org" },
  { claims: '{"id_token":{"sub":{"value":"u"}}}' },
  { request: "eyJhbGciOiJub25lIn0.e30." },
  { request_uri: "https://127.0.0.1/r" },
  { response_mode: "form_post" },
  { response_mode: "web_message" },
  { id_token_hint: "eyJhbGciOiJub25lIn0.e30." },
  { ui_locales: "fr-CA" },
  { dpop_jkt: "x".repeat(43) },
];
/** What a registration may claim in addition. */
const CLAIMED: readonly Meant["fields"][] = [
  { token_endpoint_auth_method: "private_key_jwt", jwks_uri: "https://127.0.0.1/k" },
  { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [{ kty: "OKP", crv: "Ed25519", x: "AA" }] } },
  { redirect_uris: ["http://evil.example/cb"] },
  { redirect_uris: ["javascript:alert(1)"] },
  { redirect_uris: ["https://a.example/cb#x", "app:/cb"] },
  { grant_types: ["implicit"], response_types: ["token"] },
  { grant_types: ["urn:ietf:params:oauth:grant-type:jwt-bearer"], redirect_uris: [] },
  { subject_type: "pairwise", sector_identifier_uri: "https://127.0.0.1/s" },
  { id_token_signed_response_alg: "none", client_secret: "s" },
  { application_type: "web", client_uri: "javascript:1", contacts: ["x"] },
  { software_statement: "eyJhbGciOiJub25lIn0.e30." },
];

/** An assertion of the company's provider that is signed well, mostly with another claim or header. */
async function assertionOf({ idp, known, email, random }: Stage): Promise<string> {
  const claims = { email, email_verified: true, resource: RESOURCE, scope: "cti:read", aud: BASE };
  const said = random.once(3) ? claims : (changedJson(claims, random) as object | null);
  const header = random.once(10) ? (changedJson({ typ: "oauth-id-jag+jwt" }, random) as object | null) : {};
  const access = { audience: BASE, clientId: known.clientId };
  try {
    return await idp.idJag({ sub: "somebody" }, access, objectOf(said), objectOf(header));
  } catch {
    // What cannot be signed is not sent.
    return "eyJ.eyJ.x";
  }
}

const objectOf = (value: unknown): object => (typeof value === "object" && value !== null ? value : {});

/**
 * Requests to the authorization server with their fields and bytes changed, as a façade passes them on. Most name a client,
 * a code, a token and a page that are good. No answer is a fault, no token comes without the client's verifier, and no
 * browser is sent elsewhere than to the client's redirect.
 */
export async function fuzzOauth(): Promise<FuzzTarget> {
  const { pass, renew, close, idp, email } = await startOauthStage();
  const refusals = new Set<string>();
  let known = await renew();
  let count = 0;
  let isRenewing = false;

  return {
    name: "OAuth requests",
    refusals,
    async one(random) {
      if (++count >= FRESH_FOR && !isRenewing) {
        isRenewing = true;
        known = await renew();
        [count, isRenewing] = [0, false];
      }
      const request = await requestOf({ known, email, idp, random });
      const shown = JSON.stringify([request.target, Buffer.from(request.body).toString()]).slice(0, 1_200);
      try {
        const { status, headers, body } = await pass(request);
        const text = Buffer.from(body).toString();
        const location = headers.find(({ name }) => name === "location")?.value;
        const refusal = refusalIn(status, text, location);
        if (refusal !== undefined) refusals.add(refusal);
        const wrong = wrongIn(request, status, text, location);
        return wrong === undefined ? undefined : `${wrong} to ${shown}`;
      } catch (error) {
        // What is no such message is refused before anybody reads it.
        if (!(error instanceof ConnectError) || error.code === 13 || error.code === 2)
          return `${(error as Error).stack} to ${shown}`;
        refusals.add(wordsOf(error.rawMessage));
        return undefined;
      }
    },
    close,
  };
}

/** What an answer says that none may say; undefined for nothing. */
function wrongIn({ body }: Passed, status: number, text: string, location: string | undefined): string | undefined {
  if (status >= 500 && status !== 503) return `${status} ${text.slice(0, 300)}`;
  const form = new URLSearchParams(Buffer.from(body).toString());
  const isToken = status === 200 && text.startsWith('{"access_token"');
  if (isToken && form.has("code") && form.get("code_verifier") !== VERIFIER) return "a token without the verifier";
  if (location === undefined) return undefined;
  const { origin, hostname, pathname } = new URL(location, BASE);
  const isTheClients = hostname === "127.0.0.1" && pathname === new URL(CALLBACK).pathname;
  return origin === BASE || isTheClients ? undefined : `a browser is sent to ${location}`;
}

/** Why a request was refused: the error of OAuth with its description, or what the page says. */
function refusalIn(status: number, text: string, location: string | undefined): string | undefined {
  const back = new URL(location ?? "/", BASE).searchParams;
  if (back.has("error")) return `redirect ${back.get("error")} ${wordsOf(back.get("error_description") ?? "")}`;
  if (status < 400) return undefined;
  const error = /"error":"([^"]*)/.exec(text)?.[1];
  const description = /"error_description":"((?:[^"\\]|\\.)*)/.exec(text)?.[1] ?? "";
  if (error !== undefined) return `${status} ${error} ${wordsOf(description)}`;
  return `${status} ${wordsOf(/id="problem">([^<]*)/.exec(text)?.[1] ?? text)}`;
}

async function requestOf(stage: Stage): Promise<Passed> {
  const { random } = stage;
  const { method, path, type, cookie, fields } = await random.pick(KINDS)(stage);
  const changed = random.once(4) ? fields : (changedJson(fields, random) as Record<string, unknown>);
  const pairs = Object.entries(changed ?? {}).map(([name, value]): [string, string] => [name, textOf(value)]);
  if (random.once(8) && pairs.length > 0) pairs.push(random.pick(pairs));
  // Parsers that read each parameter by a walk over all.
  if (random.once(1_000)) pairs.push(...Array.from({ length: 8_000 }, (): [string, string] => ["a", ""]));
  const query = new URLSearchParams(pairs).toString();
  const whole = Buffer.from(type === JSON_TYPE ? (JSON.stringify(changed) ?? "") : query);
  const body = method !== "POST" ? Buffer.alloc(0) : random.once(6) ? changedBytes(whole, random) : whole;
  const target = method === "GET" && query !== "" ? `${path}?${query}` : path;
  const text = random.once(20) ? changedBytes(Buffer.from(target), random).toString("latin1") : target;
  const given = cookie !== undefined && random.once(10) ? changedBytes(Buffer.from(cookie), random).toString() : cookie;
  const headers = [
    { name: "host", value: "sallyport.example" },
    ...(type === undefined ? [] : [{ name: "content-type", value: random.once(20) ? "text/plain" : type }]),
    ...(random.once(12) ? [{ name: "authorization", value: `Basic ${Buffer.from("c:s").toString("base64")}` }] : []),
    ...(given === undefined ? [] : [{ name: "cookie", value: given }]),
    ...(random.once(12) ? [{ name: "origin", value: random.pick(["null", "https://evil.example", BASE]) }] : []),
    ...(random.once(12) ? [{ name: "sec-fetch-site", value: random.pick(["cross-site", "same-origin"]) }] : []),
  ];
  const address = `192.0.2.${random.int(ADDRESSES)}`;
  return { method, target: text.slice(0, 16_000), headers, body: body.subarray(0, 65_536), address };
}

/** A form has only texts, and a text of a form is valid UTF-16. */
function textOf(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.slice(0, 2_000).toWellFormed();
}
