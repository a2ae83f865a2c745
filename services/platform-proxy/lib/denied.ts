import { type DocumentNode, Kind, parse, type SelectionSetNode } from "graphql";
import { LRUCache } from "lru-cache";

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

/** Tells whether a GraphQL document is denied by its root fields; each document is parsed once. */
export function deniedByField(isDenied: (field: string) => boolean): (document: string) => boolean {
  const known = new LRUCache<string, boolean>({ max: 1_000 });
  return (document) => {
    let denied = known.get(document);
    if (denied === undefined) {
      denied = rootFieldsOf(parse(document, { noLocation: true })).some(isDenied);
      known.set(document, denied);
    }
    return denied;
  };
}

/** The fields that a document asks of the root, by their own names, whatever their aliases. */
function rootFieldsOf({ definitions }: DocumentNode): string[] {
  const fields: string[] = [];
  const visited = new Set<string>();
  const visit = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) fields.push(selection.name.value);
      else if (selection.kind === Kind.INLINE_FRAGMENT) visit(selection.selectionSet);
      else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value);
        for (const one of definitions) {
          if (one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === selection.name.value) visit(one.selectionSet);
        }
      }
    }
  };
  for (const one of definitions) if (one.kind === Kind.OPERATION_DEFINITION) visit(one.selectionSet);
  return fields;
}
