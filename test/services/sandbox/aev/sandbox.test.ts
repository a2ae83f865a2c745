import { afterAll, beforeAll, expect, test } from "vitest";
import { nextMinute } from "../../../../services/sandbox/aev/runs.js";
import { seedWorld } from "../../../../services/sandbox/aev/seed/seed.js";
import { startSandbox } from "../../../../services/sandbox/aev/server.js";
import { type AevHarness, startAev } from "../../../support/platforms/aev.js";

const START = Date.parse("2026-03-01T10:00:30Z");
let now = START;
let stack: AevHarness;

beforeAll(async () => {
  stack = await startAev({ now: () => now });
});
afterAll(() => stack.close());

const ask = async <Body>(verb: string, path: string, body?: unknown): Promise<Body> =>
  (await stack.ask("planner", verb, path, body)).body as Body;

interface Exercise {
  readonly exercise_id: string;
  readonly exercise_status: string;
  readonly exercise_start_date: string | null;
}

async function launched(): Promise<Exercise> {
  const { content } = await ask<{ content: { scenario_id: string }[] }>("POST", "/api/scenarios/search", {
    sorts: [{ property: "scenario_name" }],
  });
  return ask<Exercise>("POST", `/api/scenarios/${content[0]?.scenario_id}/exercise/running`);
}

const statusesOf = async (id: string): Promise<string[]> => {
  const { content } = await ask<{ content: { inject_status: { status_name: string } }[] }>(
    "POST",
    `/api/exercises/${id}/injects/search`,
    { size: 100, sorts: [{ property: "inject_depends_duration" }] },
  );
  return content.map((row) => row.inject_status.status_name);
};

test("a seeded world is the same every time, holds a few thousand objects and is there at once", async () => {
  const began = performance.now();
  const world = seedWorld(START);
  expect(performance.now() - began).toBeLessThan(1_000);
  expect([...seedWorld(START).scenarios.keys()]).toEqual([...world.scenarios.keys()]);
  const expectations = [...world.injects.values()].reduce((sum, inject) => sum + inject.expectations.length, 0);
  const objects = Object.values(world).reduce((sum, rows) => sum + (rows as Map<string, unknown>).size, expectations);
  expect(objects).toBeGreaterThan(3_000);
});

test("what is launched starts at the next full minute and runs through to its end", async () => {
  now = START;
  const simulation = await launched();
  expect(simulation).toMatchObject({ exercise_status: "RUNNING", exercise_start_date: "2026-03-01T10:01:00Z" });
  expect(new Set(await statusesOf(simulation.exercise_id))).toEqual(new Set(["DRAFT"]));
  now = nextMinute(START);
  expect((await statusesOf(simulation.exercise_id))[0]).toBe("QUEUING");
  now += 30_000;
  expect((await statusesOf(simulation.exercise_id))[0]).toBe("EXECUTING");
  const results = await ask<{ avgResult: string }[]>("GET", `/api/exercises/${simulation.exercise_id}/results`);
  expect(results).toMatchObject([{ type: "HUMAN_RESPONSE", avgResult: "PENDING" }]);
  now += 3 * 3_600_000;
  expect(await ask<Exercise>("GET", `/api/exercises/${simulation.exercise_id}`)).toMatchObject({
    exercise_status: "FINISHED",
  });
  const final = await ask<{ avgResult: string }[]>("GET", `/api/exercises/${simulation.exercise_id}/results`);
  expect(final.every(({ avgResult }) => avgResult !== "PENDING")).toBe(true);
});

test("while a simulation is held nothing runs, and afterwards everything runs later", async () => {
  now = START;
  const { exercise_id } = await launched();
  const set = (status: string) => ask("PUT", `/api/exercises/${exercise_id}/status`, { exercise_status: status });
  await set("PAUSED");
  now += 600_000;
  expect(new Set(await statusesOf(exercise_id))).toEqual(new Set(["DRAFT"]));
  await set("RUNNING");
  expect((await statusesOf(exercise_id))[0]).toBe("DRAFT");
  now = nextMinute(now);
  expect((await statusesOf(exercise_id))[0]).toBe("QUEUING");
});

test("a reset drops what a simulation showed", async () => {
  now = START;
  const { exercise_id } = await launched();
  now += 3 * 3_600_000;
  await ask("PUT", `/api/exercises/${exercise_id}/status`, { exercise_status: "SCHEDULED" });
  expect(await ask("GET", `/api/exercises/${exercise_id}/results`)).toEqual([]);
  expect(await ask("GET", `/api/exercises/${exercise_id}`)).toMatchObject({ exercise_start_date: null });
});

test("without a sort no order is kept", async () => {
  const first = async () =>
    (await ask<{ content: { scenario_id: string }[] }>("POST", "/api/scenarios/search", {})).content[0]?.scenario_id;
  expect(await first()).not.toBe(await first());
});

test("a port that is taken is an error", async () => {
  const port = Number(new URL(stack.sandbox.url).port);
  await expect(startSandbox({ host: "127.0.0.1", port, trust: stack.issuer.url })).rejects.toThrow("EADDRINUSE");
});
