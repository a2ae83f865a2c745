import { expect, test } from "vitest";
import { createSchedule } from "../../../clients/load/schedule.js";
import { bodyOf, listen, resultOf, runLoad } from "./support/servers.js";

test("a generator that is held up sends all that was due, and its report says that it was late", async () => {
  const server = await listen(async (request, response) => {
    response.setHeader("content-type", "application/json").end(resultOf((await bodyOf(request)).id));
  });
  // The generator's own process is busy for a while.
  const hold = setTimeout(() => {
    const end = performance.now() + 300;
    while (performance.now() < end);
  }, 400);
  const report = await runLoad([
    ...["--url", server.url, "--eras", "2026-07-28", "--rate", "200", "--seconds", "1", "--warmup", "0"],
  ]);
  clearTimeout(hold);
  await server.close();
  const { count } = createSchedule([{ seconds: 1, from: 200, to: 200 }]);
  expect(report.requests.due).toBe(count);
  expect(report.generator.isBehind).toBe(true);
  expect(report.generator.lateMs.max).toBeGreaterThan(200);
  // The delay is in the latencies.
  expect(report.latencyMs.max).toBeGreaterThan(200);
  expect(report.notes[0]).toMatch(/The generator fell behind its schedule/);
});
