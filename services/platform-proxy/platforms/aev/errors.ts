import type { ConnectError } from "@connectrpc/connect";
import {
  alreadyExists,
  failedPrecondition,
  invalidArgument,
  notFound,
  permissionDenied,
  resourceExhausted,
  unavailable,
  unimplemented,
} from "../../../shared/rpc/errors.js";
import type { RestRequest, Session } from "../../adapter.js";
import type { HttpReply } from "../../lib/http.js";
import { brokenOff, passing } from "../../lib/outcome.js";
import { contentRightOf } from "./content-rights.js";
import { unstorableIn } from "./unstorable.js";

interface Refused {
  readonly session: Pick<Session, "caller" | "tool">;
  readonly request: RestRequest;
  readonly isRead: boolean;
}

/** The three forms of a refusal's body: with fields, with a message, bare. */
interface Body {
  readonly message?: unknown;
  /** Of a conflict, what the database said. */
  readonly error?: unknown;
  readonly errors?: { readonly children?: Readonly<Record<string, { readonly errors?: readonly string[] }>> };
}

const NUL = /invalid byte sequence for encoding "UTF8": 0x00/;
const SAFE_MESSAGES = [/^This path is not handled by Queryable annotation: [\w]+$/, /^Unknown sort property '[\w]+'/];

/**
 * Says in the caller's words why the platform refused: by the form of its
 * answer, never with its own text where that tells of its inside.
 */
export function refusalOf(reply: HttpReply, { session, request, isRead }: Refused): ConnectError {
  const cause = new Error(`${request.verb} ${request.path} answered ${reply.status}`);
  const body = bodyOf(reply);
  const message = typeof body.message === "string" ? body.message : undefined;
  switch (reply.status) {
    case 400:
      return invalidArgument(badArgument(body, message, request.body), cause);
    case 401:
      // Not unauthenticated: to us the caller is signed in, so this is for them to read.
      return permissionDenied(
        `OpenAEV does not sign ${session.caller.email} in. Likely reasons: no account has this e-mail address, the clock of OpenAEV is wrong, or an address is wrong in the settings of OpenAEV (its own or the one of this service); an administrator checks these`,
        cause,
      );
    case 403:
      return message === "TENANT_ACCESS_DENIED"
        ? permissionDenied("this account is not a member of that tenant in OpenAEV; whoami lists its tenants", cause)
        : permissionDenied(
            `${missingRight(request)}; whoami shows the account's rights, and an administrator of OpenAEV can add rights`,
            cause,
          );
    case 404:
      return notFound("OpenAEV does not have this object, or somebody has just deleted it", cause);
    case 405:
    case 415:
      return unimplemented(
        "OpenAEV does not know this operation; an administrator checks whether its version is supported",
        cause,
      );
    case 409: {
      // The platform says the same of everything that its database does not take.
      const reason = String(body.error);
      const unstorable = unstorableIn(request.body, reason, fieldOf(request.body));
      if (unstorable !== undefined) return invalidArgument(unstorable, cause);
      if (NUL.test(reason)) return invalidArgument("a text has a NUL character, which OpenAEV cannot store", cause);
      const same = sameIn(reason, fieldOf(request.body));
      if (same.length > 0) {
        return alreadyExists(`OpenAEV refused this because there is one with the same ${same.join(", ")}`, cause);
      }
      return alreadyExists(
        "OpenAEV refused this because it conflicts with an existing object, such as one with the same name",
        cause,
      );
    }
    case 429:
      return passing(resourceExhausted, "OpenAEV's rate limit is reached", "try again in a few seconds", cause);
    case 502:
    case 503:
    case 504:
      return brokenOff(isRead, unavailable, "OpenAEV cannot answer now", { cause });
    default:
      return reply.status >= 500
        ? brokenOff(isRead, unavailable, `OpenAEV failed to answer this request (status ${reply.status})`, { cause })
        : failedPrecondition(
            `OpenAEV refused this request with status ${reply.status}; an administrator checks its version and its address`,
            cause,
          );
  }
}

/** What the platform puts before each field of a kind, such as `asset_group_`: what all fields sent begin with. */
function nounOf(sent: unknown): string {
  const [first = "", ...others] = Object.keys(typeof sent === "object" && sent !== null ? sent : {});
  let noun = first.slice(0, first.lastIndexOf("_") + 1);
  while (!others.every((field) => field.startsWith(noun)))
    noun = noun.slice(0, noun.lastIndexOf("_", noun.length - 2) + 1);
  return noun;
}

/** Names what was sent as our tools do. */
function fieldOf(sent: unknown): (field: string) => string {
  const noun = nounOf(sent);
  return (field) => (field.startsWith(noun) ? field.slice(noun.length) : field);
}

/** The columns that no two objects may share, as our tools name them; but for the tenant. */
function sameIn(reason: string, named: (field: string) => string): readonly string[] {
  const [, columns = ""] = /duplicate key value [\s\S]*?Key \(([\w, ]+)\)=/.exec(reason) ?? [];
  const own = columns.split(", ").filter((one) => one !== "" && one !== "tenant_id");
  return own.map((one) => (one.endsWith("_external_id") ? "identifier" : named(one)));
}

function badArgument({ errors }: Body, message: string | undefined, sent: unknown): string {
  const named = fieldOf(sent);
  const fields = Object.entries(errors?.children ?? {}).flatMap(([field, { errors: reasons = [] }]) =>
    reasons.map((reason) => `${named(field)}: ${reason.replace(/\.$/, "").toLowerCase()}`),
  );
  if (fields.length > 0) return `OpenAEV refused the arguments: ${fields.join("; ")}`;
  if (message !== undefined && SAFE_MESSAGES.some((safe) => safe.test(message))) {
    return "OpenAEV cannot search or sort by one of these fields; an administrator checks whether its version is supported";
  }
  const unstorable = unstorableIn(sent, undefined, named);
  if (unstorable !== undefined) return unstorable;
  return "OpenAEV refused the arguments but did not say which; check names, dates and enumerated values";
}

function bodyOf(reply: HttpReply): Body {
  try {
    const body: unknown = JSON.parse(reply.text);
    return typeof body === "object" && body !== null ? (body as Body) : {};
  } catch {
    return {};
  }
}

/** On what a grant is given that reaches an inject. */
const ON_ITS_PLAN = "on the scenario, simulation or atomic test of this inject";

/** What each route asks for: a right, or a grant on the object that it is about. */
const RIGHTS: readonly (readonly [route: RegExp, right: string, grant?: string])[] = [
  [/^POST \/exercises$|^POST \/scenarios\/[^/]+$/, "MANAGE_ASSESSMENT"],
  [/^PUT \/scenarios\/[^/]+\/recurrence$/, "LAUNCH_ASSESSMENT", "LAUNCHER on this scenario"],
  [/^POST \/payloads$/, "MANAGE_PAYLOADS"],
  [/^PUT \/payloads\//, "MANAGE_PAYLOADS", "PLANNER on this payload"],
  [/^DELETE \/payloads\//, "DELETE_PAYLOADS", "PLANNER on this payload"],
  [/^\w+ \/payloads\//, "ACCESS_PAYLOADS", "OBSERVER on this payload"],
  [/^DELETE \/exercises\/[^/]+$/, "DELETE_ASSESSMENT", "PLANNER on this simulation"],
  [/^PUT \/exercises\/[^/]+(?:\/start-date)?$/, "MANAGE_ASSESSMENT", "PLANNER on this simulation"],
  [/^(?:POST|PUT|DELETE) \/scenarios\/[^/]+\/variables/, "MANAGE_ASSESSMENT", "PLANNER on this scenario"],
  [/^(?:POST|PUT|DELETE) \/exercises\/[^/]+\/variables/, "MANAGE_ASSESSMENT", "PLANNER on this simulation"],
  [/^POST \/scenarios$/, "MANAGE_ASSESSMENT"],
  [/^POST \/scenarios\/[^/]+\/exercise\/running$/, "LAUNCH_ASSESSMENT", "LAUNCHER on this scenario"],
  [/^PUT \/exercises\/[^/]+\/status$/, "LAUNCH_ASSESSMENT", "LAUNCHER on this simulation"],
  [/^\w+ \/scenarios\/[^/]+\/injects(?!\/simple)/, "MANAGE_ASSESSMENT", "PLANNER on this scenario"],
  [/^PUT \/scenarios\//, "MANAGE_ASSESSMENT", "PLANNER on this scenario"],
  [/^DELETE \/scenarios\//, "DELETE_ASSESSMENT", "PLANNER on this scenario"],
  [/^\w+ \/exercises\/[^/]+\/injects(?!\/(?:search|results))/, "MANAGE_ASSESSMENT", "PLANNER on this simulation"],
  [/^\w+ \/(?:findings\/)?scenarios\//, "ACCESS_ASSESSMENT", "OBSERVER on this scenario"],
  [/^\w+ \/(?:findings\/)?exercises\//, "ACCESS_ASSESSMENT", "OBSERVER on this simulation"],
  [/^\w+ \/(?:findings\/)?endpoints\//, "ACCESS_ASSETS"],
  [/^POST \/findings\/search$/, "ACCESS_FINDINGS"],
  [/^GET \/injects\/|^POST \/injects\/[^/]+\/targets\//, "ACCESS_ASSESSMENT", `OBSERVER ${ON_ITS_PLAN}`],
  [/^\w+ \/injects\//, "MANAGE_ASSESSMENT", `PLANNER ${ON_ITS_PLAN}`],
  [/^POST \/atomic-testings$/, "MANAGE_ASSESSMENT"],
  [/^GET \/atomic-testings\//, "ACCESS_ASSESSMENT", "OBSERVER on this atomic test"],
  [/^\w+ \/atomic-testings\//, "MANAGE_ASSESSMENT", "PLANNER on this atomic test"],
  [/^PUT \/expectations\//, "MANAGE_ASSESSMENT"],
  [/^GET \/injector_contracts\//, "ACCESS_PAYLOADS", "OBSERVER on the payload of this action"],
];

function missingRight({ verb, path }: RestRequest): string {
  const route = `${verb} ${path.replace(/^\/api(?:\/tenants\/[^/]+)?/, "")}`;
  const known = contentRightOf(route) ?? RIGHTS.find(([pattern]) => pattern.test(route));
  const [, right, grant] = known ?? [];
  if (right === undefined) return "this account's own rights in OpenAEV do not allow this";
  const or = grant === undefined ? "" : ` or the grant ${grant}`;
  return `this account needs the right ${right}${or} in OpenAEV but does not have it`;
}

/** The error of an update whose fields cannot all be read first: OpenAEV clears those that a write leaves out. */
export const incompleteRead = (): ConnectError =>
  failedPrecondition(
    "this version of OpenAEV does not return every field that an update would overwrite, so this tool cannot update the object; an administrator checks the version",
  );
