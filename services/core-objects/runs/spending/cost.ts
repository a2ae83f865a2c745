import type { Spending } from "../record.js";
import { NANOS } from "./prices.js";

/** Digits of a cost: it may be a small part of a cent. */
const DIGITS = 6;

/** What something cost, in units of the currency; undefined if no price of it is known. It is never 0 for that. */
export function costIn({ cost_nanos = 0, unpriced = 0 }: Spending): number | undefined {
  return cost_nanos === 0 && unpriced > 0 ? undefined : amountOf(cost_nanos);
}

/** Nano-units as units of the currency. */
export function amountOf(nanos: number): number {
  return Number((nanos / NANOS).toPrecision(DIGITS));
}

/** Units of the currency as nano-units. */
export function nanosOf(amount: number): number {
  return Math.round(amount * NANOS);
}
