import { Bare, type Reply } from "./replies.js";
import type { Actor } from "./rights.js";

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

export interface Route {
  readonly method: string;
  /** Below /api, such as /scenarios/{id}. */
  readonly path: string;
  /** Answers only below /api, not below a tenant. */
  readonly global?: boolean;
  readonly answer: (exchange: Exchange) => Reply;
}

/** A route that was found, and what stood in its braces. */
export interface Match {
  readonly route: Route;
  readonly ids: readonly string[];
}

/**
 * Finds routes by method and path.
 *
 * @returns a function that throws Bare 404 for a path that no route has and
 * 405 for one that has none of this method.
 */
export function createRouter(routes: readonly Route[]): (method: string, path: string, tenant: boolean) => Match {
  const compiled = routes.map((route) => ({
    route,
    pattern: new RegExp(`^${route.path.replace(/\{\w+\}/g, "([^/]+)")}$`),
  }));
  return (method, path, tenant) => {
    let known = false;
    for (const { route, pattern } of compiled) {
      const found = tenant && route.global === true ? null : pattern.exec(path);
      if (found === null) continue;
      if (route.method === method) return { route, ids: found.slice(1).map(decodeURIComponent) };
      known = true;
    }
    throw new Bare(known ? 405 : 404);
  };
}
