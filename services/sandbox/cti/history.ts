import type { Account } from "./account.js";
import type { Graph } from "./graph.js";
import { SIGHTING, type Thing } from "./thing.js";
import { mainOf } from "./views/names.js";

/** One act on one object. */
export interface Entry {
  readonly id: string;
  readonly scope: "create" | "update" | "delete" | "merge";
  readonly at: number;
  readonly by: { readonly id: string; readonly name: string };
  readonly entityId: string;
  readonly entityType: string;
  readonly entityName: string;
  /** The ends of a relationship; of a sighting the platform loses them. */
  readonly ends?: { readonly from: string; readonly to: string };
  /** The markings of the object, and of a relationship's ends, when it happened: who lacks one does not see the entry. */
  readonly markings: readonly string[];
  readonly message: string;
  readonly commit: string | null;
  readonly changes: readonly string[];
}

/** Who did what to which object; entries appear a little late, as the platform indexes them apart. */
export class History {
  constructor(
    private readonly delayMs: number,
    private readonly graph: Graph,
    readonly entries: Entry[] = [],
  ) {}

  record(
    scope: Entry["scope"],
    thing: Thing,
    name: string,
    by: Account,
    message: string,
    more: { readonly changes?: readonly string[]; readonly commit?: string | null; readonly at?: number } = {},
  ): void {
    const at = more.at ?? Date.now();
    const { from, to } = this.endsOf(thing);
    const isSighting = thing.type === SIGHTING;
    this.entries.push({
      id: `${at}-${this.entries.length}`,
      scope,
      at,
      by: { id: by.id, name: by.name },
      entityId: thing.id,
      entityType: thing.type,
      entityName: name,
      ...(from !== undefined && to !== undefined && !isSighting && { ends: { from: from.id, to: to.id } }),
      markings: [thing, from, to].flatMap((one) => one?.refs.markings ?? []),
      message,
      commit: more.commit ?? null,
      changes: more.changes ?? [],
    });
  }

  /** What is said of a relationship that is made or deleted; of an object what it is and its name. */
  sentenceOf(act: "create" | "delete", thing: Thing): string {
    const { from, to } = this.endsOf(thing);
    if (from === undefined || to === undefined) return `${act}s a ${thing.type} \`${mainOf(thing, this.graph)}\``;
    const [begin, end] = [from, to].map((one) => `\`${mainOf(one, this.graph)}\` (${one.type})`);
    return `${act}s the relation ${thing.type} from ${begin} to ${end}`;
  }

  private endsOf({ ends }: Thing): { readonly from?: Thing | undefined; readonly to?: Thing | undefined } {
    return ends === undefined ? {} : { from: this.graph.get(ends.from), to: this.graph.get(ends.to) };
  }

  /** Newest first, those already indexed that the account may see. */
  seenBy(account: Account): Entry[] {
    const until = Date.now() - this.delayMs;
    const all = account.capabilities.includes("BYPASS");
    const seen = (entry: Entry) => all || entry.markings.every((id) => account.allowed.has(id));
    return this.entries.filter((entry) => entry.at <= until && seen(entry)).reverse();
  }
}
