// Which operations are tools' is the API's own list, (mcp.v1.tool). What stands
// here is the other half: operations that administer a platform, which no
// binding may reach whatever the API says. They are told by what the platform
// calls them, not by words in the names of tools.

/** Routes of a REST platform by what follows /api/: one part, such as `users`, or two, such as `metrology/dashboards`. */
export interface DeniedRoutes {
  /** Neither read nor changed. */
  readonly all: ReadonlySet<string>;
  /** Read, but not changed. */
  readonly writes: ReadonlySet<string>;
}

/** An exchange, as far as its route decides. */
export interface Routed {
  readonly verb: string;
  readonly path: string;
  readonly read?: boolean;
}

/** The two parts after /api/, or after /api/tenants/{id}/. */
const ROUTE = /^\/api\/(?:tenants\/[^/]+\/(?=.))?(([^/?#]+)(?:\/[^/?#]*)?)/;
/** What a server may read as another path than it looks. */
const DISGUISED = /\/\.|\/\/|[\\?#]|%(?:2[ef]|5c)/i;

/** Tells whether an exchange is denied by its route; all are that lie outside of /api/. */
export function deniedByRoute({ all, writes }: DeniedRoutes): (exchange: Routed) => boolean {
  return ({ verb, path, read = verb === "GET" }) => {
    const [, two = "", one = ""] = ROUTE.exec(path) ?? [];
    if (one === "" || DISGUISED.test(path)) return true;
    return all.has(one) || all.has(two) || (!read && (writes.has(one) || writes.has(two)));
  };
}
