import type { Known } from "../../services/shared/credentials/known.js";
import type { Shares } from "../../services/shared/limits/shares.js";
import { type Excess, saidOfExcess } from "../../services/shared/rpc/json-shape.js";
import { ambiguityOf } from "../../services/shared/rpc/json-twice.js";
import { textOfUtf8 } from "../../services/shared/rpc/utf8.js";
import type { Admit, NotAdmitted } from "../admission/admit.js";
import type { Origins } from "../admission/origins.js";
import {
  ambiguousRefusal,
  BAD_ORIGIN,
  BAD_TYPE,
  type HttpRefusal,
  httpRefusalOf,
  NOT_POST,
  noSlotRefusal,
  TOO_SLOW,
  tooLargeRefusal,
} from "../admission/refusals.js";
import type { RequestSlots } from "../admission/slots.js";
import type { Unauthenticated } from "../admission/unauthenticated.js";
import type { EndpointStates } from "../catalogue/endpoint-states.js";
import type { Endpoint } from "../catalogue/endpoints.js";
import type { McpServer } from "../catalogue/servers.js";
import type { Unread } from "../http/body-reader.js";
import type { Exchange, HeaderList } from "../http/exchange.js";
import { classify } from "./era.js";
import { errorText, INVALID_REQUEST, idIn, idOf, PARSE_ERROR } from "./json-rpc.js";
import { serveBatch, serveLegacy } from "./legacy.js";
import { otherCaseIn } from "./members.js";
import { MAX_REFUSED_BODY, REFUSED_BODY_MS, readAndRefuse, refuse } from "./refuse.js";
import { serveModern } from "./rev-2026-07-28.js";
import type { Admitted, McpContext } from "./server.js";

/** The methods that an endpoint answers; others are 405. */
export const ENDPOINT_METHODS = ["POST", "OPTIONS"] as const;
/** Longest body of a request, in bytes. */
export const MAX_BODY = 4 << 20;
const TOO_LARGE = tooLargeRefusal(MAX_BODY);

/** What an endpoint asks of a request, and what answers it. */
export interface ServeOptions {
  readonly admit: Admit;
  readonly slots: RequestSlots;
  readonly unauthenticated: Unauthenticated;
  readonly states: EndpointStates;
  readonly origins: Origins;
  readonly shares: Shares;
  readonly servers: ReadonlyMap<string, McpServer>;
  readonly context: Omit<McpContext, "refuse">;
}

/** Answers a request to an endpoint. */
export type Serve = (exchange: Exchange, endpoint: Endpoint) => void;

type Verdict = Known | HttpRefusal;

/**
 * Builds what answers a request to an endpoint. The first refusal wins, in
 * this order: method, origin, bearer token, endpoint state, content type,
 * places, length, and then the protocol's own.
 */
export function createServe(options: ServeOptions): Serve {
  const door = new Door(options);
  return (exchange, endpoint) => door.serve(exchange, endpoint);
}

class Door {
  private readonly context: McpContext;

  constructor(private readonly options: ServeOptions) {
    this.context = {
      ...options.context,
      refuse: ({ exchange, endpoint, headers }, refused, id) =>
        refuse(exchange, httpRefusalOf(refused, endpoint.challenge), headers, id),
    };
  }

  serve(exchange: Exchange, endpoint: Endpoint) {
    const { origins } = this.options;
    const { origin } = exchange.headers;
    if (exchange.method !== "POST") this.options.unauthenticated.count(exchange);
    if (exchange.method === "OPTIONS") {
      if (origins.allows(origin)) return exchange.answer(204, origins.preflightFor(origin));
      return refuse(exchange, BAD_ORIGIN, origins.headersFor(origin));
    }
    if (exchange.method !== "POST") return refuse(exchange, NOT_POST, origins.headersFor(origin));
    if (!origins.allows(origin)) {
      this.options.unauthenticated.count(exchange);
      return this.turnAway(exchange, BAD_ORIGIN);
    }
    const verdict = this.judge(exchange, endpoint);
    if (verdict instanceof Promise) return this.serveWhenJudged(exchange, endpoint, verdict);
    const seated = this.seat(exchange, verdict);
    if ("status" in seated) {
      if ("status" in verdict) return this.turnAway(exchange, seated);
      // Who is let in and has a share already is told so when there is time.
      exchange.postpone();
      return this.turnAway(exchange, seated, verdict);
    }
    exchange.readJson(MAX_BODY, (body, unread) => this.settle(exchange, endpoint, seated, body, unread));
  }

  /** Refuses a request whose body is not read yet. */
  private turnAway(exchange: Exchange, refusal: HttpRefusal, known?: Known): void {
    const { origins, slots } = this.options;
    readAndRefuse(exchange, refusal, origins.headersFor(exchange.headers.origin), slots, known);
  }

  /** Gives who is let in a place, where there is one. */
  private seat(exchange: Exchange, verdict: Verdict): Verdict {
    if ("status" in verdict) return verdict;
    const slot = this.options.slots.admitted(verdict, exchange);
    if (typeof slot === "string") return noSlotRefusal(slot);
    return exchange.occupy(slot) ? verdict : noSlotRefusal("full");
  }

  private judge(exchange: Exchange, endpoint: Endpoint): Verdict | Promise<Verdict> {
    const admission = this.options.admit(exchange, endpoint.resource);
    return admission instanceof Promise
      ? admission.then((one) => this.enter(exchange, endpoint, one))
      : this.enter(exchange, endpoint, admission);
  }

  private enter(exchange: Exchange, endpoint: Endpoint, admission: Known | NotAdmitted): Verdict | Promise<Verdict> {
    if ("refused" in admission) {
      // Of whom nobody could be asked is not known to be a stranger.
      if (admission.refused !== "unavailable") this.options.unauthenticated.count(exchange);
      return httpRefusalOf(admission.refused, endpoint.challenge);
    }
    const state = this.options.states.of(endpoint.server);
    if (state instanceof Promise) return state.then((refusal) => refusal ?? checkType(exchange) ?? admission);
    return state ?? checkType(exchange) ?? admission;
  }

  private serveWhenJudged(exchange: Exchange, endpoint: Endpoint, pending: Promise<Verdict>) {
    const waiting = this.options.slots.waiting(exchange);
    if (typeof waiting === "string") {
      // Nobody knows who it is; whoever is told so at once comes again at once.
      this.options.unauthenticated.count(exchange);
      return this.turnAway(exchange, httpRefusalOf("unavailable", endpoint.challenge));
    }
    exchange.occupy(waiting);
    let read: (() => void) | undefined;
    let verdict: Verdict | undefined;
    exchange.readJson(MAX_BODY, (body, unread) => {
      read = () => this.settle(exchange, endpoint, verdict as Verdict, body, unread);
      if (verdict !== undefined) read();
    });
    // What the client sends waits outside until it is known who sends it.
    exchange.hold();
    const judged = (given: Verdict) => {
      verdict = this.seat(exchange, given);
      if (read === undefined && "status" in verdict && !this.hurry(exchange)) {
        return refuse(exchange, verdict, this.options.origins.headersFor(exchange.headers.origin));
      }
      // Also when the body came with the headers: the connection's next request must be read.
      exchange.letGo();
      read?.();
    };
    pending.then(judged, () => judged(httpRefusalOf("unavailable", endpoint.challenge)));
  }

  /** The rest of a body that is refused is read for the id alone; false where there is no place to read it in. */
  private hurry(exchange: Exchange): boolean {
    const slot = this.options.slots.refused(exchange);
    if (typeof slot === "string" || !exchange.occupy(slot)) return false;
    exchange.bound(MAX_REFUSED_BODY, REFUSED_BODY_MS);
    return true;
  }

  private settle(
    exchange: Exchange,
    endpoint: Endpoint,
    verdict: Verdict,
    body: string | Buffer | undefined,
    unread: Unread | Excess | undefined,
  ) {
    const headers = this.options.origins.headersFor(exchange.headers.origin);
    if ("status" in verdict) return refuse(exchange, verdict, headers, idOf(body));
    if (unread === "too deep" || unread === "too many") {
      // Told when there is time, as is what cannot be read: whoever is told so sends the same again.
      exchange.postpone();
      const message = `Invalid request: the body ${saidOfExcess(unread)}`;
      return exchange.answer(400, headers, errorText(undefined, INVALID_REQUEST, message));
    }
    if (body === undefined) return refuse(exchange, UNREAD[unread ?? "too long"], headers);
    const { shares } = this.options;
    const share = shares.of(verdict.caller);
    if (shares.admits(share)) this.answer(exchange, endpoint, verdict, body, headers);
    else shares.wait(share, () => this.answer(exchange, endpoint, verdict, body, headers));
  }

  private answer(exchange: Exchange, endpoint: Endpoint, known: Known, body: string | Buffer, headers: HeaderList) {
    let message: unknown;
    try {
      const text = textOf(body);
      message = JSON.parse(text);
      const fault = ambiguityOf(text, message) ?? otherCaseIn(message);
      if (fault !== undefined) return refuse(exchange, ambiguousRefusal(fault), headers, idIn(message));
    } catch {
      exchange.postpone();
      return exchange.answer(400, headers, errorText(undefined, PARSE_ERROR, "Parse error: the body is not JSON"));
    }
    const server = this.options.servers.get(endpoint.server) as McpServer;
    const options = server.readQuery(exchange.query);
    if ("status" in options) return refuse(exchange, options, headers, idIn(message));
    const found = classify(message, exchange.headers["mcp-protocol-version"]);
    if (found.kind === "accepted") return exchange.answer(202, headers.slice(4));
    if (found.kind === "refused") {
      return exchange.answer(400, headers, errorText(found.id, found.code, found.message));
    }
    const admitted: Admitted = { exchange, endpoint, server, known, options, headers };
    if (found.kind === "modern") serveModern(this.context, admitted, found.request);
    else if (found.kind === "legacy") serveLegacy(this.context, admitted, found.request);
    else serveBatch(this.context, admitted, found.elements);
  }
}

/** @throws TypeError for what is not UTF-8. */
function textOf(body: string | Buffer): string {
  const text = typeof body === "string" ? body : textOfUtf8(body);
  if (text === undefined) throw new TypeError("not UTF-8");
  return text;
}

const UNREAD: Readonly<Record<Unread, HttpRefusal>> = {
  "too long": TOO_LARGE,
  "too slow": TOO_SLOW,
  "no room": noSlotRefusal("share"),
};

function checkType({ headers }: Exchange): HttpRefusal | undefined {
  const type = headers["content-type"];
  if (type === "application/json") return undefined;
  return type?.split(";", 1)[0]?.trim().toLowerCase() === "application/json" ? undefined : BAD_TYPE;
}
