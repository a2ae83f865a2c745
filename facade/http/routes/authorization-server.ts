import { AuthorizationServerService } from "#proto/auth/v1/authorization_server_service_pb.js";
import type { Slot } from "../../../services/shared/limits/slots.js";
import type { Credential } from "../../../services/shared/rpc/call.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import type { Arrival } from "../../admission/admit.js";
import type { RequestSlots } from "../../admission/slots.js";
import { type BodyStream, JSON_HEADERS, wholeOf } from "../exchange.js";
import { jsonPage, type Page, type PageRequest, type Route } from "../route.js";

/** The way to the authorization server. */
export interface AuthorizationServerOptions {
  readonly dispatch: Dispatch;
  /** The façade's own credential. */
  readonly self: Credential;
  readonly slots: RequestSlots;
  /** Where the client is: behind proxies not the address of the connection. */
  readonly addressOf: (arrival: Arrival) => string;
  /** The path of the public base URL, without a trailing slash. */
  readonly base: string;
}

/** Longest body, in bytes: of a registration, a form, or a request for tokens. */
const MAX_BODY = 64 << 10;
/** Longer headers are none of a browser's or a client's here, in characters. */
const MAX_FIELDS = 16_384;
/** Longest wait for an answer, in milliseconds: a client's document may have to be fetched first. */
const TIMEOUT_MS = 15_000;

const BUSY = jsonPage(
  503,
  { error: "temporarily_unavailable", error_description: "the service cannot sign anybody in now: try again shortly" },
  // Clients take 503 for a reason to wait; after other errors some look for another authorization server.
  [...JSON_HEADERS, "retry-after", "5"],
);
const NO_BODY = new Uint8Array();

/**
 * {base}/oauth/*, {base}/console/session, and the metadata of the authorization server (RFC 8414) at
 * each address where clients look for it: passed on to auth, which answers.
 */
export function authorizationServerRoutes(options: AuthorizationServerOptions): Route[] {
  const { slots, base } = options;
  const ask = (request: PageRequest<unknown>, body: Uint8Array): Promise<Page> => pass(options, request, body);
  const paths = [
    `${base}/oauth/*`,
    // Where people sign in to the console: the same of auth answers.
    `${base}/console/session`,
    `${base}/console/session/*`,
    "/.well-known/oauth-authorization-server*",
    "/.well-known/openid-configuration*",
    ...(base === "" ? [] : [`${base}/.well-known/*`]),
  ];
  return paths.flatMap((path): Route[] => [
    { path, methods: ["GET", "OPTIONS"], handle: (request) => ask(request, NO_BODY) },
    {
      path,
      methods: ["POST"],
      takes: "stream",
      maxBody: MAX_BODY,
      enter(arrival: Arrival): Slot | Page {
        const slot = slots.signingIn(arrival);
        return typeof slot === "string" ? BUSY : slot;
      },
      handle: async (request: PageRequest<BodyStream>) => ask(request, await wholeOf(request.body)),
    },
  ]);
}

async function pass(
  { dispatch, self, addressOf }: AuthorizationServerOptions,
  request: PageRequest<unknown>,
  body: Uint8Array,
): Promise<Page> {
  const { method, path, query } = request;
  const fields = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value }],
  );
  if (fields.reduce((sum, { value }) => sum + value.length, query.length) > MAX_FIELDS) return TOO_LARGE;
  try {
    const answer = await dispatch.unary(
      AuthorizationServerService.method.handleHttp,
      { method, target: query === "" ? path : `${path}?${query}`, headers: fields, body, address: addressOf(request) },
      { credential: self, deadline: Date.now() + TIMEOUT_MS },
    );
    const headers = answer.headers.filter(({ name }) => !OURS.has(name)).flatMap(({ name, value }) => [name, value]);
    return { status: answer.status, headers, body: answer.body };
  } catch {
    return BUSY;
  }
}

const TOO_LARGE = jsonPage(431, {
  error: "invalid_request",
  error_description: "the address and the headers are too long: delete the cookies of this site, and start again",
});

/** What the façade writes itself. */
const OURS: ReadonlySet<string> = new Set(["connection", "content-length", "date", "keep-alive", "transfer-encoding"]);
