import type { Account } from "./account.js";
import type { Thing } from "./thing.js";

/** One act on one object. */
export interface Entry {
  readonly id: string;
  readonly scope: "create" | "update" | "delete" | "merge";
  readonly at: number;
  readonly by: { readonly id: string; readonly name: string };
  readonly entityId: string;
  readonly entityType: string;
  readonly entityName: string;
  /** The object's markings when it happened: who may not see the object does not see the entry. */
  readonly markings: readonly string[];
  readonly message: string;
  readonly commit: string | null;
  readonly changes: readonly string[];
}

/** Who did what to which object; entries appear a little late, as the platform indexes them apart. */
export class History {
  constructor(
    private readonly delayMs: number,
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
    this.entries.push({
      id: `${at}-${this.entries.length}`,
      scope,
      at,
      by: { id: by.id, name: by.name },
      entityId: thing.id,
      entityType: thing.type,
      entityName: name,
      markings: [...thing.refs.markings],
      message,
      commit: more.commit ?? null,
      changes: more.changes ?? [],
    });
  }

  /** Newest first, those already indexed that the account may see. */
  seenBy(account: Account): Entry[] {
    const until = Date.now() - this.delayMs;
    const all = account.capabilities.includes("BYPASS");
    const seen = (entry: Entry) => all || entry.markings.every((id) => account.allowed.has(id));
    return this.entries.filter((entry) => entry.at <= until && seen(entry)).reverse();
  }
}
