import { type Base, type CollectionSpec, type DocCollection, isDuplicateKey } from "../../../shared/store/store.js";
import type { DEPLOYMENT } from "../../room.js";
import { endOfDay } from "../run-room.js";

// What requests to models take on a day (UTC), by whom a budget is for. All processes count in the store. Before a
// request, what it takes about is reserved, by a write that says in its filter how much is left: of two at the same
// time, one does not get the last of it. Once its answer is there, the true amount takes the place of the reserved one.

/** An amount of tokens, and what they cost in nano-units. */
export interface Amount {
  readonly tokens: number;
  readonly nanos: number;
}

/** What was spent and is reserved. */
export interface SpendingRecord extends Base, Amount {
  /** Requests whose price is not known. */
  readonly unpriced: number;
  readonly expires_at: Date;
}

/** Where it is kept. */
export const SPENDING: CollectionSpec = {
  name: "run_spending",
  indexes: [{ name: "expiry", key: { expires_at: 1 }, expireAfterSeconds: 0 }],
};

const DAY_MS = 86_400_000;

/** Whose a counter is: of a user, of an assignment, or of the whole deployment. */
export type Counted = { readonly user: string } | { readonly assignment: string } | typeof DEPLOYMENT;

/** The id of a counter. */
export function counterOf(whose: Counted, now = new Date()): string {
  const day = now.toISOString().slice(0, 10);
  if (typeof whose === "string") return `${day}.deployment`;
  return "user" in whose ? `${day}.user.${whose.user}` : `${day}.assignment.${whose.assignment}`;
}

/** What a counter says. */
export async function spentIn(
  counters: DocCollection<SpendingRecord>,
  id: string,
): Promise<Omit<SpendingRecord, "_id">> {
  return (await counters.findOne({ _id: id })) ?? { tokens: 0, nanos: 0, unpriced: 0, expires_at: new Date() };
}

/**
 * Adds to a counter what stays within a limit.
 *
 * @returns whether it did.
 */
export async function reserve(
  counters: DocCollection<SpendingRecord>,
  id: string,
  amount: Amount,
  limit: Partial<Amount>,
): Promise<boolean> {
  const { tokens, nanos } = limit;
  const within = {
    _id: id,
    ...(tokens !== undefined && { tokens: { $lte: tokens - amount.tokens } }),
    ...(nanos !== undefined && { nanos: { $lte: nanos - amount.nanos } }),
  };
  const take = async (): Promise<boolean> => {
    const { matchedCount } = await counters.updateOne(within as never, { $inc: { ...amount } } as never);
    return matchedCount === 1;
  };
  if (await take()) return true;
  const expires_at = new Date(endOfDay(new Date()).getTime() + DAY_MS);
  const begun = { tokens: 0, nanos: 0, unpriced: 0, expires_at };
  // Of two that begin a day at once, one finds it begun.
  await counters.updateOne({ _id: id }, { $setOnInsert: begun } as never, { upsert: true }).catch((error) => {
    if (!isDuplicateKey(error)) throw error;
  });
  return take();
}

/** Changes a counter by what a request took more or less than was reserved. */
export async function correct(
  counters: DocCollection<SpendingRecord>,
  id: string,
  by: Amount & { readonly unpriced: number },
): Promise<void> {
  await counters.updateOne({ _id: id }, { $inc: { ...by } } as never);
}
