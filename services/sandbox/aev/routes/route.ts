import type * as router from "../../router.js";
import type { Reply } from "../replies.js";
import type { Actor } from "../rights.js";

/** A request that has been signed in and placed in a tenant. */
export interface Exchange {
  readonly actor: Actor;
  /** The values of the braces of the route's path. */
  readonly ids: readonly string[];
  readonly query: URLSearchParams;
  /** The JSON body; undefined for none. */
  readonly body: unknown;
  readonly now: number;
}

/** Answers one exchange. @throws Bare or Refusal. */
export type Answer = (exchange: Exchange) => Reply;

/** One route; its path is below /api, such as /scenarios/{id}. */
export interface Route extends router.Route<Answer> {
  /** Answers only below /api, not below a tenant. */
  readonly global?: boolean;
}
