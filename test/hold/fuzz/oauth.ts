import { ConnectError } from "@connectrpc/connect";
import { AuthorizationServerService } from "#proto/auth/v1/authorization_server_service_pb.js";
import { startStack } from "../../services/auth/stack.js";
import { changedBytes, changedJson, type Random } from "./random.js";
import { type FuzzTarget, wordsOf } from "./target.js";

const BASE = "https://sallyport.example";
const RESOURCE = `${BASE}/mcp/cti`;
const FORM = "application/x-www-form-urlencoded";
const REGISTRATION = {
  client_name: "Fuzz",
  redirect_uris: ["http://127.0.0.1:7/cb"],
  token_endpoint_auth_method: "none",
};
const VERIFIER = "x".repeat(43);

/** The requests that clients and browsers send to the authorization server. */
const REQUESTS: readonly {
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly fields: Readonly<Record<string, string>>;
}[] = [
  { method: "GET", path: "/.well-known/oauth-authorization-server", fields: {} },
  {
    method: "GET",
    path: "/oauth/authorize",
    fields: {
      ...{ response_type: "code", client_id: "c", redirect_uri: "http://127.0.0.1:7/cb", scope: "cti:read" },
      ...{ state: "s", resource: RESOURCE, code_challenge: VERIFIER, code_challenge_method: "S256" },
    },
  },
  {
    method: "POST",
    path: "/oauth/token",
    type: FORM,
    fields: {
      ...{ grant_type: "authorization_code", code: "x", redirect_uri: "http://127.0.0.1:7/cb", client_id: "c" },
      ...{ code_verifier: VERIFIER, resource: RESOURCE },
    },
  },
  {
    method: "POST",
    path: "/oauth/token",
    type: FORM,
    fields: { grant_type: "refresh_token", refresh_token: "r", client_id: "c" },
  },
  {
    method: "POST",
    path: "/oauth/token",
    type: FORM,
    fields: { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: "eyJ.eyJ.x", client_id: "c" },
  },
  { method: "POST", path: "/oauth/revoke", type: FORM, fields: { token: "t", client_id: "c" } },
  { method: "POST", path: "/oauth/register", type: "application/json", fields: {} },
  { method: "GET", path: "/oauth/interaction/abc", fields: {} },
  { method: "POST", path: "/oauth/interaction/abc", type: FORM, fields: { action: "allow", page: "p" } },
];

/** Requests to the authorization server with their fields and bytes changed, as a façade passes them on. */
export async function fuzzOauth(): Promise<FuzzTarget> {
  const stack = await startStack();
  const refusals = new Set<string>();

  return {
    name: "OAuth requests",
    refusals,
    async one(random) {
      const request = requestOf(random);
      try {
        const { status, body } = await stack.as(
          stack.secrets.serviceKey,
          AuthorizationServerService.method.handleHttp,
          request,
        );
        const text = Buffer.from(body).toString();
        if (status >= 400) refusals.add(`${status} ${wordsOf(/"error":"([^"]*)/.exec(text)?.[1] ?? titleOf(text))}`);
        const isOurs = status < 500 || status === 503;
        return isOurs
          ? undefined
          : `${status} ${text.slice(0, 300)} to ${JSON.stringify(request.target).slice(0, 800)}`;
      } catch (error) {
        // What is no such message is refused before anybody reads it.
        if (!(error instanceof ConnectError) || error.code === 13 || error.code === 2)
          return `${(error as Error).stack} to ${JSON.stringify(request.target).slice(0, 800)}`;
        refusals.add(wordsOf(error.rawMessage));
        return undefined;
      }
    },
    close: () => stack.close(),
  };
}

const titleOf = (html: string): string => /<h1>([^<]*)/.exec(html)?.[1] ?? "";

function requestOf(random: Random) {
  const { method, path, type, fields } = random.pick(REQUESTS);
  const changed = random.once(4) ? fields : (changedJson(fields, random) as Record<string, unknown>);
  const pairs = Object.entries(changed ?? {}).map(([name, value]): [string, string] => [name, textOf(value)]);
  if (random.once(8) && pairs.length > 0) pairs.push(random.pick(pairs));
  const query = new URLSearchParams(pairs).toString();
  const form = Buffer.from(query);
  const json = Buffer.from(JSON.stringify(changedJson(REGISTRATION, random)) ?? "");
  const whole = type === "application/json" ? json : form;
  const body = method === "GET" ? Buffer.alloc(0) : random.once(4) ? changedBytes(whole, random) : whole;
  const target = method === "GET" && query !== "" ? `${path}?${query}` : path;
  const text = random.once(10) ? changedBytes(Buffer.from(target), random).toString("latin1") : target;
  const headers = [
    { name: "host", value: "sallyport.example" },
    ...(type === undefined ? [] : [{ name: "content-type", value: random.once(20) ? "text/plain" : type }]),
    ...(random.once(6) ? [{ name: "authorization", value: `Basic ${Buffer.from("c:s").toString("base64")}` }] : []),
    ...(random.once(6) ? [{ name: "cookie", value: "_session=x; sallyport_session=y" }] : []),
  ];
  return { method, target: text.slice(0, 16_000), headers, body: body.subarray(0, 65_536), address: "127.0.0.1" };
}

/** A form has only texts, and a text of a form is valid UTF-16. */
function textOf(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.slice(0, 2_000).toWellFormed();
}
