import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { ControlCostSchema, ControlCostTotalSchema } from "#proto/grc/v1/control_service_pb.js";
import { unavailable } from "../../../shared/rpc/errors.js";
import { given } from "../../lib/fields.js";
import type { Platform } from "../../platform.js";
import { type Decimal, decimalOf, type Related, referenceOf } from "./upstream.js";

// What controls cost. The platform computes the cost of a year where a control is
// read by itself, at a daily rate of its settings, which only administrators read:
// for lists the rate is found from one such control.

/** The recorded cost of a control, as the platform keeps it. */
export interface UpstreamCost {
  readonly currency?: string | null;
  readonly amortization_period?: number | null;
  readonly build?: UpstreamPart | null;
  readonly run?: UpstreamPart | null;
}

interface UpstreamPart {
  readonly fixed_cost?: number | null;
  readonly people_days?: number | null;
}

/** What of a control says what it costs. */
export interface Priced {
  readonly id: string;
  readonly folder: Related;
  readonly cost?: UpstreamCost | null;
  /** A text; only where a control is read by itself. */
  readonly annual_cost?: Decimal;
}

type Cost = Omit<MessageInitShape<typeof ControlCostSchema>, "$typeName">;

/** What of a cost can be written. */
export interface CostFields {
  readonly buildCost?: number | undefined;
  readonly runCost?: number | undefined;
  readonly buildDays?: number | undefined;
  readonly runDays?: number | undefined;
  readonly amortizationYears?: number | undefined;
  readonly currency?: string | undefined;
}

/** The parts of a cost; undefined where nothing is recorded, which the platform fills with zeros. */
function partsOf({ cost }: Priced) {
  const { build, run } = cost ?? {};
  const parts = {
    build: build?.fixed_cost ?? 0,
    buildDays: build?.people_days ?? 0,
    run: run?.fixed_cost ?? 0,
    runDays: run?.people_days ?? 0,
  };
  if (Object.values(parts).every((part) => part === 0)) return undefined;
  return { ...parts, currency: cost?.currency ?? "€", amortizationYears: cost?.amortization_period ?? 1 };
}

/** What a control costs that was read by itself. */
export function costOf(control: Priced): Cost | undefined {
  const parts = partsOf(control);
  return parts && { ...parts, annual: decimalOf(control.annual_cost) ?? 0 };
}

/** What the controls of a list cost, by their ids; controls without a cost are left out. */
export async function costsOf(
  controls: readonly Priced[],
  platform: Platform,
  path: string,
): Promise<ReadonlyMap<string, Cost>> {
  const priced = controls.flatMap((control) => {
    const parts = partsOf(control);
    return parts === undefined ? [] : [{ id: control.id, parts, days: daysOf(parts), paid: paidOf(parts) }];
  });
  // The more days, the less does it matter that the platform rounds.
  const byDays = priced.filter(({ days }) => days > 0).sort((a, b) => b.days - a.days);
  const rate = await dailyRateOf(byDays, platform, path);
  const costs = priced.map(
    ({ id, parts, days, paid }) => [id, { ...parts, annual: cents(paid + days * rate) }] as const,
  );
  return new Map(costs);
}

type Parts = NonNullable<ReturnType<typeof partsOf>>;

const daysOf = ({ buildDays, runDays, amortizationYears }: Parts) => buildDays / amortizationYears + runDays;
const paidOf = ({ build, run, amortizationYears }: Parts) => build / amortizationYears + run;
const cents = (amount: number) => Math.round(amount * 100) / 100;

/** Controls that are asked for the rate: one may be deleted meanwhile. */
const ASKED_FOR_RATE = 3;

/**
 * What the platform takes for a day.
 *
 * @throws ConnectError unavailable, if none of the controls tells it: a cost without its days would be wrong.
 */
async function dailyRateOf(
  byDays: readonly { readonly id: string; readonly days: number; readonly paid: number }[],
  platform: Platform,
  path: string,
): Promise<number> {
  for (const { id, days, paid } of byDays.slice(0, ASKED_FOR_RATE)) {
    try {
      const { annual_cost: annual } = await platform.rest<Priced>({ verb: "GET", path: `${path}${id}/` });
      const year = decimalOf(annual);
      if (year !== undefined) return cents((year - paid) / days);
    } catch (error) {
      // It was deleted meanwhile: the next one tells as well.
      if (!(error instanceof ConnectError) || error.code !== Code.NotFound) throw error;
    }
  }
  if (byDays.length === 0) return 0;
  throw unavailable(
    "CISO Assistant did not say what a day costs: try again, or leave out with_cost and order by another value",
  );
}

/** What controls cost together, by domain and currency. */
export function totalsOf(controls: readonly Priced[], costs: ReadonlyMap<string, Cost>) {
  const totals = new Map<string, Total>();
  for (const control of controls) {
    const cost = costs.get(control.id);
    const domain = referenceOf(control.folder);
    const key = JSON.stringify([domain?.id, cost?.currency]);
    const total = totals.get(key) ?? emptyTotal(domain, cost?.currency);
    totals.set(key, total);
    if (cost === undefined) total.unpricedCount++;
    else {
      total.pricedCount++;
      for (const part of PARTS) total[part] = cents(total[part] + (cost[part] ?? 0));
    }
  }
  return merged([...totals.values()]);
}

const PARTS = ["build", "buildDays", "run", "runDays", "annual"] as const;

function emptyTotal(domain: ReturnType<typeof referenceOf>, currency: string | undefined) {
  const counts = { pricedCount: 0, unpricedCount: 0 };
  return { ...given({ domain, currency }), ...counts, build: 0, buildDays: 0, run: 0, runDays: 0, annual: 0 };
}

type Total = ReturnType<typeof emptyTotal>;

/** Controls without a cost are counted with a currency of their domain, where it has one. */
function merged(totals: readonly Total[]): Omit<MessageInitShape<typeof ControlCostTotalSchema>, "$typeName">[] {
  const nameOf = ({ domain }: Total) => domain?.name ?? "";
  const kept = totals.filter((one) => one.currency !== undefined);
  for (const unpriced of totals.filter((one) => one.currency === undefined)) {
    const first = kept.find(({ domain }) => domain?.id === unpriced.domain?.id);
    if (first === undefined) kept.push(unpriced);
    else first.unpricedCount += unpriced.unpricedCount;
  }
  return kept.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0));
}

/** A cost as it is written: the platform replaces it whole, so that what is not given stays as it was. */
export function costWritten(r: CostFields, before: UpstreamCost | null | undefined): UpstreamCost | undefined {
  const { buildCost, runCost, buildDays, runDays, amortizationYears, currency } = r;
  if ([buildCost, runCost, buildDays, runDays, amortizationYears, currency].every((one) => one === undefined)) {
    return undefined;
  }
  return {
    currency: currency ?? before?.currency ?? "€",
    amortization_period: amortizationYears ?? before?.amortization_period ?? 1,
    build: {
      fixed_cost: buildCost ?? before?.build?.fixed_cost ?? 0,
      people_days: buildDays ?? before?.build?.people_days ?? 0,
    },
    run: {
      fixed_cost: runCost ?? before?.run?.fixed_cost ?? 0,
      people_days: runDays ?? before?.run?.people_days ?? 0,
    },
  };
}
