import type { Account, SandboxUser } from "./account.js";
import { authRequired } from "./errors.js";
import { Graph } from "./graph.js";
import { type Entry, History } from "./history.js";
import type { Viewer } from "./lists.js";
import type { Thing } from "./thing.js";

/** What an administrator of the platform can set. */
export interface Settings {
  /** Entity types whose edits and creations need an external reference. */
  readonly enforceReferences: readonly string[];
  /** How late history entries appear, in milliseconds. */
  readonly historyDelayMs: number;
}

/** The platform's whole state. */
export interface World {
  readonly graph: Graph;
  readonly accounts: readonly Account[];
  readonly history: History;
  readonly settings: Settings;
}

/** One request's view of the platform. */
export interface Context {
  readonly world: World;
  /** Undefined where nobody is signed in. */
  readonly account: Account | undefined;
  readonly draft: string | undefined;
  /** opencti-retry-number is 1 or 2: references that cannot be resolved are errors, not dropped. */
  readonly strict: boolean;
}

/** The request of somebody signed in. */
export interface Visit extends Viewer {
  readonly world: World;
  readonly strict: boolean;
}

/** @throws ApiError AUTH_REQUIRED. */
export function visitOf({ world, account, draft, strict }: Context): Visit {
  if (account === undefined) throw authRequired();
  return { world, graph: world.graph, account, draft, strict };
}

/** Sees by internal or STIX id what the account may see, of one type or above it. */
export function see({ graph, account, draft }: Viewer, id: string | null | undefined, type: string): Thing | undefined {
  const thing = graph.see(id ?? undefined, account, draft);
  return thing?.types.includes(type) ? thing : undefined;
}

/** What of a world outlives the platform's process. */
export interface KeptWorld {
  readonly things: readonly Thing[];
  readonly history: Entry[];
  /** The drafts that accounts have open, in the order of the accounts. */
  readonly drafts: readonly (string | undefined)[];
}

/**
 * @param makers mints account ids; equal users get equal ids where it is deterministic.
 * @param before what the world was left with; it is empty where left out.
 */
export function createWorld(
  users: readonly SandboxUser[],
  settings: Settings,
  makeId: () => string,
  before?: KeptWorld,
): World {
  const graph = new Graph();
  for (const thing of before?.things ?? []) graph.put(thing);
  const accounts = users.map((user, i) => {
    return { ...user, id: makeId(), allowed: new Set<string>(), draft: before?.drafts[i] };
  });
  return { graph, accounts, history: new History(settings.historyDelayMs, graph, before?.history), settings };
}

/** What is kept of a world: see createWorld. */
export function keptOf({ graph, accounts, history }: World): KeptWorld {
  const drafts = accounts.map(({ draft }) => draft);
  return { things: [...graph.things.values()], history: history.entries, drafts };
}

/** Allows each account the markings of its clearance and the lower ones of their kinds. */
export function clearAccounts({ graph, accounts }: World): void {
  const markings = [...graph.things.values()].filter((thing) => thing.type === "Marking-Definition");
  for (const account of accounts) {
    const allowed = account.allowed as Set<string>;
    for (const top of markings.filter((marking) => account.clearance.includes(String(marking.attributes.definition)))) {
      for (const marking of markings) {
        const sameKind = marking.attributes.definition_type === top.attributes.definition_type;
        if (sameKind && orderOf(marking) <= orderOf(top)) allowed.add(marking.id);
      }
    }
  }
}

/** The rank of a marking among those of its kind. */
export const orderOf = (marking: Thing): number => Number(marking.attributes.x_opencti_order ?? 0);
