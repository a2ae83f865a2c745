import { once } from "node:events";
import { createServer, type Server, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { Code } from "@connectrpc/connect";
import { afterEach, expect, test, vi } from "vitest";
import { type LaunchScenarioResponse, ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { SimulationStatus } from "#proto/aev/v1/simulation_pb.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { refusal } from "../../../../support/platforms/refusal.js";

const { launchScenario, listScenarios, createScenario } = ScenarioService.method;
let stack: AevHarness | undefined;

afterEach(async () => {
  vi.useRealTimers();
  await stack?.close();
  stack = undefined;
});

async function firstScenario({ call }: AevHarness): Promise<string> {
  const { scenarios } = await call(listScenarios, { pageSize: 1 }, "analyst");
  return scenarios[0]?.id ?? "";
}

async function collect(events: AsyncIterable<LaunchScenarioResponse>) {
  const all: LaunchScenarioResponse["event"][] = [];
  for await (const { event } of events) all.push(event);
  const last = all.at(-1);
  if (last?.case !== "result") throw new Error("the stream ended without a result");
  const progress = all.flatMap((event) => (event.case === "progress" ? [event.value] : []));
  return { progress, result: last.value };
}

test("a launch is followed until its first inject is at work, and says how to go on", async () => {
  // Two seconds before the full minute on the platform's clock.
  const offset = 58_000 - (Date.now() % 60_000);
  stack = await startAev({ now: () => Date.now() + offset });
  const scenarioId = await firstScenario(stack);
  const { progress, result } = await collect(stack.stream(launchScenario, { scenarioId }, "analyst"));
  expect(progress.length).toBeGreaterThan(1);
  expect(progress.map(({ done }) => done)).toEqual(progress.map(({ done }) => done).sort((a, b) => a - b));
  expect(result).toMatchObject({
    started: true,
    simulation: { status: SimulationStatus.RUNNING, scenario: { id: scenarioId } },
  });
  expect(result.injectsRunning + result.injectsDone).toBeGreaterThan(0);
  expect(result.injectsWaiting).toBeGreaterThan(0);
  for (const tool of ["get_simulation", "list_injects", "get_simulation_results", "set_simulation_status"]) {
    expect(result.remaining).toContain(tool);
  }
});

test("a launch whose start is further off ends in time, says when it starts, and then that it has", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const stopped = Date.now();
  stack = await startAev({ now: () => stopped });
  const scenarioId = await firstScenario(stack);
  const events: LaunchScenarioResponse["event"][] = [];
  for await (const { event } of stack.stream(launchScenario, { scenarioId }, "analyst")) {
    events.push(event);
    vi.setSystemTime(Date.now() + 30_000);
  }
  const last = events.at(-1);
  expect(events.length).toBeLessThan(5);
  expect(last).toMatchObject({ case: "result", value: { started: false, injectsRunning: 0 } });
  const said = events.map((event) => (event.case === "progress" ? event.value.message : undefined));
  expect(said[0]).toMatch(/the simulation starts at \d{4}-\d\d-\d\dT\d\d:\d\d:00Z/);
  const begun = /the simulation started at \d{4}-\d\d-\d\dT\d\d:\d\d:00Z, and no inject is running yet/;
  expect(last?.case === "result" && last.value.remaining).toMatch(begun);
});

test("a scenario without injects is launched without waiting, and the result says that nothing will run", async () => {
  stack = await startAev();
  const { scenario } = await stack.call(createScenario, { name: "Empty" }, "analyst");
  const { result } = await collect(stack.stream(launchScenario, { scenarioId: scenario?.id ?? "" }, "analyst"));
  expect(result).toMatchObject({ started: false, injectsWaiting: 0 });
  expect(result.remaining).toContain("no injects");
});

test("leaving while the launch is followed closes the platform's connection, and the simulation goes on", async () => {
  const held = await startHolding("/injects/search");
  stack = await startAev({ through: held.through });
  try {
    const scenarioId = await firstScenario(stack);
    const leaving = new AbortController();
    const events = stack.stream(launchScenario, { scenarioId }, "analyst", leaving.signal)[Symbol.asyncIterator]();
    const first = await events.next();
    expect(first.value?.event.case).toBe("progress");
    const rest = events.next();
    await held.arrived;
    leaving.abort();
    const error = await refusal(rest);
    expect(error.code).toBe(Code.Canceled);
    await held.closed;
    const { body } = await stack.ask("planner", "GET", `/api/scenarios/${scenarioId}`);
    expect((body as { scenario_exercises: string[] }).scenario_exercises).toHaveLength(3);
  } finally {
    await held.close();
  }
});

test("leaving between two looks ends the call at once", async () => {
  stack = await startAev({ now: () => 60_000 });
  const scenarioId = await firstScenario(stack);
  const leaving = new AbortController();
  const began = performance.now();
  const attempt = (async () => {
    for await (const _ of stack.stream(launchScenario, { scenarioId }, "analyst", leaving.signal)) {
      setImmediate(() => leaving.abort());
    }
  })();
  expect(await refusal(attempt)).toMatchObject({ code: Code.Canceled });
  expect(performance.now() - began).toBeLessThan(5_000);
});

test("a platform that fails after the launch does not hide that it was launched", async () => {
  const failing = await startHolding("/injects/search", 500);
  stack = await startAev({ through: failing.through });
  try {
    const scenarioId = await firstScenario(stack);
    const { result } = await collect(stack.stream(launchScenario, { scenarioId }, "analyst"));
    expect(result).toMatchObject({ started: false, simulation: { scenario: { id: scenarioId } } });
    expect(result.remaining).toContain("its progress could not be read: OpenAEV failed");
    expect(result.remaining).toContain(result.simulation?.id);
  } finally {
    await failing.close();
  }
});

/** Passes requests on to a platform, but never answers those whose path contains a word, or with a status alone. */
async function startHolding(word: string, status?: number) {
  let target = "";
  let tellArrived: () => void = () => undefined;
  let tellClosed: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => (tellArrived = resolve));
  const closed = new Promise<void>((resolve) => (tellClosed = resolve));
  const server: Server = createServer((request, response) => {
    if (request.url?.includes(word)) {
      if (status !== undefined) return response.writeHead(status).end();
      request.socket.once("close", tellClosed);
      return tellArrived();
    }
    const { method, headers, url } = request;
    const passed = send(new URL(url ?? "/", target), { method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    request.pipe(passed);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    arrived,
    closed,
    through(platform: string) {
      target = platform;
      return url;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
