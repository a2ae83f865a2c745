import type { Slot } from "../../services/shared/limits/slots.js";
import type { Arrival } from "../admission/admit.js";
import type { Unread } from "./body-reader.js";
import { type BodyStream, type HeaderList, JSON_HEADERS } from "./exchange.js";

/** A page of the façade that is not MCP, and its address. */
export type Route = BodilessRoute | BodyRoute;

/** Where something is answered. */
export interface Address {
  /** The exact path, or with a final "*" every path that begins so. */
  readonly path: string;
  /** The methods that are answered; others are 405. */
  readonly methods: readonly string[];
  /** Its pages say which of its requests are of unauthenticated callers; those of other routes all are. */
  readonly admits?: true;
}

/** A route that reads no body. */
export interface BodilessRoute extends Address {
  readonly takes?: undefined;
  /** Answers; what it throws is logged and told as 500. */
  handle(request: PageRequest<undefined>): Promise<Page> | Page;
}

/** A route that reads a body: as fast as its page does, and nothing of it before that asks. */
export interface BodyRoute extends Address {
  readonly takes: "stream";
  /** Longest body in bytes; a longer one is 413. */
  readonly maxBody: number;
  /** Decides from the headers alone, before anything of the body is read: gives it a slot, or refuses. */
  enter?(arrival: Arrival): Slot | Page;
  /** What is answered where the body is not read to its end; absent for a page in JSON. */
  unread?(why: Unread, arrival: Arrival): Page;
  /** Answers; what it throws is logged and told as 500. */
  handle(request: PageRequest<BodyStream>): Promise<Page> | Page;
}

/** A request to a page. */
export interface PageRequest<Body> {
  readonly method: string;
  readonly path: string;
  /** Without its question mark; "" for none. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The address of the connection's other end. */
  readonly address: string;
  readonly body: Body;
  /** Counts the request for this slot from now on: see Exchange. */
  occupy(slot: Slot): boolean;
  /** Counts further bytes for the slot, as those of the body are; false if there are not as many. */
  keep(bytes: number): boolean;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
}

/** The answer of a page. */
export interface Page {
  readonly status: number;
  readonly headers: HeaderList;
  /** It answers an unauthenticated caller. */
  readonly unauthenticated?: boolean;
  /**
   * In full, or in pieces: the next is asked for when the client has taken the
   * ones before, and none any more when it is gone.
   */
  readonly body?: string | Uint8Array | AsyncIterable<string | Uint8Array>;
  /** The bytes of a body in pieces, or of the one that HEAD leaves out, where known. */
  readonly length?: number;
}

/** A page that is a JSON value. */
export function jsonPage(status: number, value: unknown, headers: HeaderList = JSON_HEADERS): Page {
  return { status, headers, body: JSON.stringify(value) };
}
