import { expect, test } from "vitest";
import { createUsageCounter } from "../../../../services/shared/credentials/usage.js";
import { reportUsage } from "../../../../services/shared/credentials/usage-report.js";
import { silentLog } from "../../../../services/shared/process/log.js";

test("a key that is used while it is reported is reported next time, so that a report ends in a busy process", async () => {
  const usage = createUsageCounter();
  const told: number[] = [];
  const dispatch = {
    async unary(_method: unknown, { usages }: { usages: { uses: number }[] }) {
      told.push(...usages.map(({ uses }) => uses));
      usage.of("busy").uses += 3;
      if (told.length > 10) throw new Error("it does not end");
      return {};
    },
  };
  usage.of("busy").uses = 1;
  const options = { usage, dispatch: dispatch as never, credential: {}, log: silentLog };
  await reportUsage(options);
  expect(told).toEqual([1]);
  await reportUsage(options);
  expect(told).toEqual([1, 3]);
});
