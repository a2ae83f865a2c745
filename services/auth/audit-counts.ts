import { setImmediate as nextTurn } from "node:timers/promises";
import { createHolders, type Holders } from "./audit-holders.js";
import { AUDIT_KINDS, type AuditKindName } from "./audit-kinds.js";
import type { AuditRecordDoc, AuthStore } from "./store.js";

/** How many records of the audit each user has, by kind: counted in the background, and then kept. */
export interface AuditCounts {
  /** False until everything is counted, and after {@link distrust}. */
  isCounted(): boolean;
  /** Who has how many of a kind. */
  of(kind: AuditKindName): Holders;
  add(docs: readonly Pick<AuditRecordDoc, "kind" | "user_email">[]): void;
  /** After a write or deletion that failed: what is there has to be counted again. */
  distrust(): void;
  /** Counts, unless the last count is younger than `withinMs`. Until it is done, an older count serves. */
  count(withinMs?: number): Promise<void>;
  /** Ends a count that is going on. */
  close(): Promise<void>;
}

/** @param inTurn runs something while nothing is written or deleted. */
export function createAuditCounts(
  { audit }: Pick<AuthStore, "audit">,
  inTurn: (work: () => Promise<void>) => Promise<void>,
  now: () => number,
): AuditCounts {
  const holders = new Map(AUDIT_KINDS.map((kind) => [kind, createHolders()]));
  /** When the kept count began; undefined before the first. */
  let countedAt: number | undefined;
  let counting: Promise<void> | undefined;
  let isDistrusted = false;
  let isClosed = false;

  const of = (kind: AuditKindName): Holders => holders.get(kind) as Holders;

  /** Counts one user after the other, while others write; what is written meanwhile is counted as it is. */
  async function countEach(): Promise<void> {
    const begun = now();
    isDistrusted = false;
    const known = new Set([...holders.values()].flatMap((own) => [...own.names()]));
    for (let user = await nextUser({ $gte: "" }); user !== undefined; user = await nextUser({ $gt: user })) {
      known.delete(user);
      await countUser(user);
    }
    for (const user of known) await countUser(user);
    if (!isClosed && !isDistrusted) countedAt = begun;
  }

  async function nextUser(range: { readonly $gte: string } | { readonly $gt: string }): Promise<string | undefined> {
    // Others have their turn in the event loop between two users.
    await nextTurn();
    if (isClosed) return undefined;
    const options = { sort: { user_email: 1 }, limit: 1, hint: "user", projection: { user_email: 1 } } as const;
    const [next] = await audit.find({ user_email: range }, options).toArray();
    return next?.user_email;
  }

  async function countUser(user_email: string): Promise<void> {
    for (const kind of AUDIT_KINDS)
      await inTurn(async () => {
        if (isClosed) return;
        of(kind).set(user_email, await audit.countDocuments({ user_email, kind }, { hint: "user" }));
      });
  }

  return {
    isCounted: () => countedAt !== undefined,
    of,
    add(docs) {
      for (let i = 0, next = 0; i < docs.length; i = next) {
        const { kind, user_email } = docs[i]!;
        while (next < docs.length && docs[next]!.kind === kind && docs[next]!.user_email === user_email) next++;
        of(kind).set(user_email, of(kind).of(user_email) + next - i);
      }
    },
    distrust() {
      countedAt = undefined;
      isDistrusted = true;
    },
    async count(withinMs = Number.POSITIVE_INFINITY) {
      if (countedAt !== undefined && now() - countedAt < withinMs) return;
      counting ??= countEach().finally(() => {
        counting = undefined;
      });
      await counting;
    },
    async close() {
      isClosed = true;
      await counting?.catch(() => undefined);
    },
  };
}
