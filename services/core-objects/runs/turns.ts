import type { DocCollection } from "../../shared/store/store.js";
import { claim } from "./queue.js";
import type { RunRecord } from "./record.js";

/** How a process shares its places. */
export interface TurnOptions {
  /** Runs at a time. */
  readonly atOnce: number;
  /** How long a run stays with a worker that gives no sign of life, in milliseconds. */
  readonly leaseMs: number;
  /** The most runs of a turn. */
  readonly turnRuns: number;
  /** How long after the first run of a turn another may begin, in milliseconds. */
  readonly turnMs: number;
}

/** Whose run a process takes next. */
export class Turns {
  #last = "";
  /** When the turn of a user began, and the runs since. */
  readonly #begun = new Map<string, { readonly at: number; runs: number }>();

  constructor(
    private readonly runs: DocCollection<RunRecord>,
    private readonly options: TurnOptions,
  ) {}

  /**
   * A run of whoever's turn it is. Who has as many at work here as there are places left
   * gets no more, so that one user fills half of them and the next to come finds one.
   *
   * A turn is several short runs: to start the processes that read what a user's models and tools answer takes ten times
   * as long as such a run, and there are fewer places for processes than users.
   *
   * @param working the owners of the runs that are at work, once for each.
   */
  async take(working: readonly string[]): Promise<RunRecord | null> {
    const { atOnce, leaseMs } = this.options;
    const free = atOnce - working.length;
    if (free <= 0) return null;
    const held = new Map<string, number>();
    for (const owner of working) held.set(owner, (held.get(owner) ?? 0) + 1);
    const more = await this.#more(held);
    if (more !== null) return more;
    const except = [...held].filter(([, count]) => count >= free).map(([owner]) => owner);
    const run = await claim(this.runs, leaseMs, { after: this.#last, except });
    this.#last = run?.owner ?? "";
    if (run !== null && !held.has(run.owner)) this.#begun.set(run.owner, { at: performance.now(), runs: 1 });
    return run;
  }

  /** The next run of a user whose last one ended during the turn. */
  async #more(held: ReadonlyMap<string, number>): Promise<RunRecord | null> {
    const { leaseMs, turnRuns, turnMs } = this.options;
    for (const [owner, turn] of this.#begun) {
      const isOver = turn.runs >= turnRuns || performance.now() - turn.at > turnMs;
      if (!isOver && held.has(owner)) continue;
      const run = isOver ? null : await claim(this.runs, leaseMs, { only: owner });
      turn.runs++;
      if (run !== null) return run;
      this.#begun.delete(owner);
    }
    return null;
  }
}
