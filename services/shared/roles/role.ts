import { isPlatformServer, platformOf, scopesOfServer } from "../platforms.js";
import { leftOutBy, type Narrowing } from "../tools/narrowing.js";
import type { Tool } from "../tools/tools.js";
import type { RightWords, RoleWords } from "./words.js";

/** A right that a role has, with what needs it. */
export interface RoleRight extends RightWords {
  /** What the API of the platform calls it. */
  readonly id: string;
  /** The right of the same role that brings this one with it; if the administrator gives it, absent. */
  readonly impliedBy?: string;
  /** The tools that need it, in file order; empty for a right that only others imply. */
  readonly tools: readonly string[];
}

/** What the users of some tools need: on the platform a role, of the service an API key. */
export interface Role {
  readonly server: string;
  /** Names of the tools that the role is for, in file order. */
  readonly tools: readonly string[];
  /** The scopes of the API key. */
  readonly scopes: readonly string[];
  /** In the order of the platform's interface; none on a server without a platform. */
  readonly rights: readonly RoleRight[];
  /** The weakest role of the platform itself that has them all; undefined if there is none. */
  readonly builtIn: string | undefined;
}

/** A platform of which only the ids of its rights are known. */
const UNKNOWN: RoleWords = { release: "", rights: {}, meets: {}, always: [], builtIn: [], steps: [], notes: [] };

/** What an administrator needs to create roles behind a server. */
export function wordsOf(server: string): RoleWords {
  return (isPlatformServer(server) ? platformOf(server).role : undefined) ?? UNKNOWN;
}

/**
 * The role that opens the tools of a server which a URL leaves, and not more
 * than they need. The union of what they need, in the platform's own terms.
 *
 * @param tools of any servers, in file order.
 */
export function rightsOf(server: string, tools: readonly Tool[], narrowing: Narrowing): Role {
  const own = tools.filter((tool) => tool.server === server && leftOutBy(tool, narrowing) === undefined);
  const words = wordsOf(server);
  const needing = new Map<string, string[]>();
  const add = (right: string, tool: string) => needing.set(right, [...(needing.get(right) ?? []), tool]);
  for (const tool of own) for (const right of meeting(tool, words, server)) add(right, tool.name);

  const order = Object.keys(words.rights);
  const place = (id: string) => (order.includes(id) ? order.indexOf(id) : order.length);
  const impliedOf = (id: string) => words.rights[id]?.implies ?? [];
  const held = [...new Set([...needing.keys()].flatMap((id) => [id, ...impliedOf(id)]))].toSorted(
    (a, b) => place(a) - place(b),
  );
  const ticked = held.filter((id) => !held.some((other) => impliedOf(other).includes(id)));
  const rights = held.map((id): RoleRight => {
    const by = ticked.find((other) => impliedOf(other).includes(id));
    const said = words.rights[id] ?? { label: id, under: [] };
    return { id, ...said, ...(by !== undefined && { impliedBy: by }), tools: needing.get(id) ?? [] };
  });
  const [read, write] = scopesOfServer(server);
  const scopes = [read, write].filter((scope) => own.some((tool) => tool.scope === scope));
  const builtIn = words.builtIn.find(({ has }) => held.length > 0 && held.every(has))?.name;
  return { server, tools: own.map(({ name }) => name), scopes, rights, builtIn };
}

/** The rights that a tool works with; those of `core` are objects that people share, and no role has them. */
function meeting(tool: Tool, { meets, always }: RoleWords, server: string): ReadonlySet<string> {
  if (!isPlatformServer(server)) return new Set();
  return new Set([...always, ...tool.needs.flatMap((need) => meets[need] ?? [need])]);
}
