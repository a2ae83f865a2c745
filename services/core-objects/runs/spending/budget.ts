import type { Context } from "../../context.js";
import type { AssignmentRecord } from "../../kinds/assignments/record.js";
import { DEPLOYMENT } from "../../room.js";
import { RunEnd } from "../ending.js";
import type { Provider } from "../provider.js";
import type { RunRecord } from "../record.js";
import { amountOf, nanosOf } from "./cost.js";
import { type Amount, correct, counterOf, reserve, spentIn } from "./counters.js";
import { type Spent, tokensOf } from "./spent.js";

/** What was reserved for a request, and in which counters. */
export interface Reservation extends Amount {
  readonly counters: readonly string[];
}

/** A budget that a request is checked against. */
interface Bound {
  readonly counter: string;
  readonly limit: Partial<Amount>;
  /** Whose it is, and how to go on, in words. */
  readonly whose: string;
  readonly next: (what: "tokens" | "cost") => string;
}

/** The budgets of a run: its own, and those that it shares with others on a day. */
export class Budget {
  constructor(
    private readonly context: Context,
    private readonly run: RunRecord,
  ) {}

  /**
   * Reserves what a request takes, about, in every budget that it is of.
   *
   * @param before what the run took so far.
   * @throws RunEnd budget, if one of them has less left, or is of money and the price is not known.
   */
  async reserve({ integration, model }: Provider, about: Spent, before: Spent): Promise<Reservation> {
    const amount = { tokens: tokensOf(about), nanos: about.cost_nanos };
    const bounds = await this.#bounds(integration.origin === "company");
    if (about.unpriced > 0) this.#checkPriced(model, bounds);
    this.#checkOwn(amount, before);
    const counters: string[] = [];
    for (const bound of bounds) {
      if (await reserve(this.context.spending, bound.counter, amount, bound.limit)) {
        counters.push(bound.counter);
        continue;
      }
      await this.settle({ ...amount, counters }, { tokens: 0, nanos: 0, unpriced: 0 });
      throw await this.#usedUp(bound, amount);
    }
    return { ...amount, counters };
  }

  /**
   * Counts what a request took in place of what was reserved for it. What is never settled, since its worker is gone
   * or waited no longer, stays counted until the day ends: the provider may well have sent the bill.
   */
  async settle({ counters, tokens, nanos }: Reservation, took: Amount & { readonly unpriced: number }): Promise<void> {
    const by = { tokens: took.tokens - tokens, nanos: took.nanos - nanos, unpriced: took.unpriced };
    await Promise.all(counters.map((id) => correct(this.context.spending, id, by)));
  }

  #checkOwn({ tokens, nanos }: Amount, before: Spent): void {
    const { max_tokens = Infinity, max_nanos = Infinity, assignment } = this.run;
    const tool = assignment === "" ? "trigger_run" : "update_assignment";
    const next = (field: string): string => `give it a smaller task, or a higher ${field} with ${tool}`;
    if (tokensOf(before) + tokens > max_tokens)
      throw new RunEnd(
        "budget",
        `it took ${tokensOf(before)} tokens of its ${max_tokens}, and its next request takes about ${tokens}: ${next("max_tokens")}`,
      );
    if (before.cost_nanos + nanos > max_nanos)
      throw new RunEnd(
        "budget",
        `it cost ${this.#money(before.cost_nanos)} of its ${this.#money(max_nanos)}, and its next request costs about ${this.#money(nanos)}: ${next("max_cost")}`,
      );
  }

  #checkPriced(model: string, bounds: readonly Bound[]): void {
    const isLimited = this.run.max_nanos !== undefined || bounds.some(({ limit }) => limit.nanos !== undefined);
    if (!isLimited) return;
    throw new RunEnd(
      "budget",
      `its cost is limited, and the price of the model ${model} is not known: choose another model with update_agent, or ask an administrator to add the price to MODELS (0 for a free model)`,
    );
  }

  async #bounds(isCompanys: boolean): Promise<Bound[]> {
    const { owner, assignment } = this.run;
    const { user, deployment } = this.context.dayLimits;
    const administrator = (tokens: string, cost: string) => (what: "tokens" | "cost") =>
      `ask an administrator to raise ${what === "tokens" ? tokens : cost}`;
    return [
      ...(assignment === "" ? [] : [await this.#ofAssignment()]),
      {
        counter: counterOf({ user: owner }),
        limit: user,
        whose: "your runs",
        next: administrator("MODEL_TOKENS_PER_USER_PER_DAY", "MODEL_COST_PER_USER_PER_DAY"),
      },
      ...(isCompanys
        ? [
            {
              counter: counterOf(DEPLOYMENT),
              limit: deployment,
              whose: "all runs of this deployment",
              next: administrator("MODEL_TOKENS_PER_DAY", "MODEL_COST_PER_DAY"),
            },
          ]
        : []),
    ];
  }

  /** As it is now: a lower limit holds for runs that go on. */
  async #ofAssignment(): Promise<Bound> {
    const { assignment } = this.run;
    const found = await this.context.collection<AssignmentRecord>("assignment").findOne({ _id: assignment });
    const { max_tokens_per_day: tokens = 0, max_cost_per_day: cost = 0 } = found ?? {};
    return {
      counter: counterOf({ assignment }),
      limit: { ...(tokens > 0 && { tokens }), ...(cost > 0 && { nanos: nanosOf(cost) }) },
      whose: "the runs of its assignment",
      next: (what) => `raise max_${what}_per_day with update_assignment`,
    };
  }

  async #usedUp({ counter, limit, whose, next }: Bound, about: Amount): Promise<RunEnd> {
    const spent = await spentIn(this.context.spending, counter);
    const isTokens = limit.tokens !== undefined && spent.tokens + about.tokens > limit.tokens;
    const words = isTokens
      ? `${whose} took ${spent.tokens} of ${limit.tokens} tokens of this day (UTC), and the next request takes about ${about.tokens}`
      : `${whose} cost ${this.#money(spent.nanos)} of ${this.#money(limit.nanos ?? 0)} of this day (UTC), and the next request costs about ${this.#money(about.nanos)}`;
    return new RunEnd(
      "budget",
      `${words}: trigger it again after midnight UTC, or ${next(isTokens ? "tokens" : "cost")}`,
    );
  }

  #money(nanos: number): string {
    return `${amountOf(nanos)} ${this.context.models.currency}`;
  }
}
