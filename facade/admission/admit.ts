import { setTimeout as sleep } from "node:timers/promises";
import type { BearerCredentials } from "../../services/shared/credentials/credentials.js";
import type { Known, Refusal } from "../../services/shared/credentials/known.js";
import { isSession } from "../../services/shared/credentials/session.js";
import type { FailureLimits, Failures } from "../../services/shared/limits/failures.js";
import { partyOf } from "../../services/shared/limits/party.js";
import { counter } from "../../services/shared/metrics/metrics.js";
import { bearerOf, isUnexpanded } from "./bearer.js";

/** What admission looks at of a request. */
export interface Arrival {
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The address of the connection's other end. */
  readonly address: string;
}

/** Why a request is not let in: for want of a bearer token, or for the reason that credentials give. */
export interface NotAdmitted {
  readonly refused: Refusal["refused"] | "missing" | "unexpanded" | "elsewhere";
}

/**
 * Says who sends a request, or why it is refused: `missing` where there is no
 * bearer token, `unexpanded` where it is the name of a variable, `throttled`
 * for a bad token of an address that tried too many of them, `elsewhere` for an
 * access token of another resource, and else for the reason that credentials give. Every route that takes bearer tokens asks it, before
 * anything of the body is read; each presents a refusal in its own protocol
 * (refusals.ts).
 *
 * @param resource the URL of the MCP endpoint that is asked; undefined at a route that takes no access tokens.
 */
export type Admit = (arrival: Arrival, resource?: string) => Known | NotAdmitted | Promise<Known | NotAdmitted>;

/** What the bad tokens of an address cost. A verification is a question to auth, and a look-up there. */
export const BAD_TOKENS: Omit<FailureLimits, "budget"> = {
  windowMs: 60_000,
  paceMs: 20,
  maxWaitMs: 2_000,
  holders: 10_000,
};

/** What admission asks, and of whom. */
export interface AdmitOptions {
  readonly credentials: Pick<BearerCredentials, "peek" | "asks" | "verify">;
  /** Counts bad tokens by address. */
  readonly badTokens: Failures;
  /** Where the client is: behind proxies not the address of the connection. */
  readonly addressOf: (arrival: Arrival) => string;
  /** The session of a person at the console, at a route that takes one in place of a bearer token. */
  readonly sessionOf?: (arrival: Arrival) => string | undefined;
}

const THROTTLED: Refusal = { refused: "throttled" };
/** Refusals that say nothing of the token. */
const PASSING: ReadonlySet<Refusal["refused"]> = new Set(["throttled", "unavailable"]);

/** Builds the ladder of a bearer token: what is known is let in at once, the rest is verified. */
export function createAdmit({ credentials, badTokens, addressOf, sessionOf }: AdmitOptions): Admit {
  async function verify(address: string, token: string): Promise<Known | Refusal> {
    const waitMs = credentials.asks(token) ? badTokens.waitOf(address, token) : 0;
    if (waitMs === Number.POSITIVE_INFINITY) return THROTTLED;
    if (waitMs > 0) await sleep(waitMs);
    const verified = await credentials.verify(token).catch((): Refusal => ({ refused: "unavailable" }));
    if (!("refused" in verified) || PASSING.has(verified.refused)) return verified;
    return badTokens.note(address, token) ? THROTTLED : verified;
  }

  function decide(arrival: Arrival, resource: string | undefined): ReturnType<Admit> {
    const bearer = bearerOf(arrival.headers.authorization);
    if (bearer !== undefined && isSession(bearer)) return { refused: "malformed" };
    const token = bearer ?? sessionOf?.(arrival);
    if (token === undefined) return { refused: "missing" };
    if (isUnexpanded(token)) return { refused: "unexpanded" };
    const known = credentials.peek(token);
    if (known !== undefined && known.expiresAt > Date.now()) return here(known, resource);
    return verify(addressOf(arrival), token).then((verified) => here(verified, resource));
  }

  return (arrival, resource) => {
    const decided = decide(arrival, resource);
    return decided instanceof Promise ? decided.then(counted) : counted(decided);
  };
}

const decisions = counter(
  "sallyport_authentications_total",
  "Requests whose credentials were checked, by the outcome: admitted, or why not.",
  ["outcome"],
);
const admitted = decisions.of("admitted");

function counted(decided: Known | NotAdmitted): Known | NotAdmitted {
  if ("refused" in decided) decisions.of(decided.refused).add();
  else admitted.add();
  return decided;
}

const ELSEWHERE: NotAdmitted = { refused: "elsewhere" };

/** An access token is good at one endpoint alone (RFC 8707 section 2.2), an API key everywhere. */
function here(known: Known | Refusal, resource: string | undefined): Known | NotAdmitted {
  return "refused" in known || known.resource === undefined || known.resource === resource ? known : ELSEWHERE;
}

/** Whose addresses clients come from, by the connection or by X-Forwarded-For, to which so many proxies of our own append. */
export function addressBehind(proxies: number): (arrival: Arrival) => string {
  if (proxies === 0) return ({ address }) => partyOf(address);
  return ({ headers, address }) => partyOf(headers["x-forwarded-for"]?.split(",").at(-proxies)?.trim() || address);
}
