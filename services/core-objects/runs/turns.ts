import type { DocCollection } from "../../shared/store/store.js";
import { claim } from "./queue.js";
import type { RunRecord } from "./record.js";

/** Whose run a process takes next. */
export class Turns {
  #last = "";

  constructor(
    private readonly runs: DocCollection<RunRecord>,
    private readonly options: { readonly atOnce: number; readonly leaseMs: number },
  ) {}

  /**
   * A run of whoever's turn it is. Who has as many at work here as there are places left
   * gets no more, so that one user fills half of them and the next to come finds one.
   *
   * @param working the owners of the runs that are at work, once for each.
   */
  async take(working: readonly string[]): Promise<RunRecord | null> {
    const free = this.options.atOnce - working.length;
    if (free <= 0) return null;
    const held = new Map<string, number>();
    for (const owner of working) held.set(owner, (held.get(owner) ?? 0) + 1);
    const except = [...held].filter(([, count]) => count >= free).map(([owner]) => owner);
    const run = await claim(this.runs, this.options.leaseMs, { after: this.#last, except });
    this.#last = run?.owner ?? "";
    return run;
  }
}
