import { expect, test } from "vitest";
import { titled } from "../../support/titled.js";
import { startPages } from "./first-pages.js";

// A page of one row costs its row. The bound is far above what it costs, since
// the clocks of a busy machine tell little: `test/bench/page-cost.ts` has the
// figures, and `list-cost.long.test.ts` counts what is read.

const MANY = 20_000;
const CALLS = 100;
/** Other programs on the machine make a call cost more, never less: the cheapest of these rounds counts. */
const ROUNDS = 3;
const MOST_MS = 3;
const MOST_SEARCHED_MS = 12;
/** Lists for which something is looked for that no index tells, and that is not there. */
const SEARCHED = /nothing of that|so$|failed with|action nothing|oldest/;

// MongoDB spends its time in another process.
const other = process.env.MONGODB_URI && "the store is that of MONGODB_URI";
test.skipIf(other)(
  titled(`page_size 1 among ${MANY} takes at most ${MOST_MS} ms of CPU`, other),
  async () => {
    const { lists, close } = await startPages(MANY);
    try {
      const dear: string[] = [];
      for (const [name, list] of Object.entries(lists)) {
        const most = SEARCHED.test(name) ? MOST_SEARCHED_MS : MOST_MS;
        let ms = Number.POSITIVE_INFINITY;
        for (let round = 0; round < ROUNDS && ms > most; round++) ms = Math.min(ms, await costOf(list));
        if (ms > most) dear.push(`${name}: ${ms.toFixed(2)} ms`);
      }
      expect(dear).toEqual([]);
    } finally {
      await close();
    }
  },
  180_000,
);

/** The CPU time of a call, in milliseconds. */
async function costOf(list: () => Promise<unknown>): Promise<number> {
  for (let n = 0; n < CALLS; n++) await list();
  const before = process.cpuUsage();
  for (let n = 0; n < CALLS; n++) await list();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / CALLS;
}
