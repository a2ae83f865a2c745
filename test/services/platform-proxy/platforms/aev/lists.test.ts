import type { DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AssetService } from "#proto/aev/v1/asset_service_pb.js";
import { FindingService } from "#proto/aev/v1/finding_service_pb.js";
import { InjectService } from "#proto/aev/v1/inject_service_pb.js";
import { ScenarioOrder, ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { SimulationOrder, SimulationService } from "#proto/aev/v1/simulation_service_pb.js";
import { TechniqueService } from "#proto/aev/v1/technique_service_pb.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { refusal } from "../../../../support/platforms/refusal.js";

// Lists on a platform whose pages repeat and lose rows where its sort leaves
// them equal, whose text search has wildcards, and whose filters on labels
// change the rows.

let stack: AevHarness;

beforeAll(async () => {
  stack = await startAev();
});
afterAll(() => stack.close());

/** The platform asked directly: everything of a search, in one page. */
async function direct<Row = Record<string, string>>(path: string, body: object = {}): Promise<Row[]> {
  const reply = await stack.ask("analyst", "POST", `/api${path}`, { size: 1000, ...body });
  return (reply.body as { content: Row[] }).content;
}

interface Listed {
  readonly totalSize: number;
  readonly nextPageToken?: string | undefined;
}

/** Every page of a list, one after the other. */
async function everyPage<I extends DescMethodUnary>(
  method: I,
  args: MessageInitShape<I["input"]>,
  pageSize = 7,
  between?: () => Promise<unknown>,
): Promise<{ readonly rows: { id: string; name: string }[]; readonly totals: number[] }> {
  const rows: { id: string; name: string }[] = [];
  const totals: number[] = [];
  let pageToken = "";
  do {
    const request = { ...args, pageSize, pageToken } as MessageInitShape<I["input"]>;
    const reply = (await stack.call(method, request, "analyst")) as unknown as Listed;
    rows.push(...(Object.values(reply).find(Array.isArray) as typeof rows));
    totals.push(reply.totalSize);
    pageToken = reply.nextPageToken ?? "";
    if (pageToken !== "") await between?.();
  } while (pageToken !== "");
  return { rows, totals };
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

const TRUE = {
  filterGroup: { mode: "and", filters: [{ key: "scenario_name", operator: "contains", values: ["true"] }] },
};
const scenarioOfTies = async () => (await direct("/scenarios/search", TRUE))[0]!.scenario_id!;

describe("every row comes once where the platform's sort leaves rows equal", () => {
  const LISTS: readonly (readonly [string, DescMethodUnary, () => Promise<object> | object, string, string])[] = [
    ["endpoints", AssetService.method.listEndpoints, () => ({}), "/endpoints/search", "asset_id"],
    [
      "techniques",
      TechniqueService.method.listAttackPatterns,
      () => ({}),
      "/attack_patterns/search",
      "attack_pattern_id",
    ],
    ["scenarios", ScenarioService.method.listScenarios, () => ({}), "/scenarios/search", "scenario_id"],
    [
      "scenarios by name",
      ScenarioService.method.listScenarios,
      () => ({ orderBy: ScenarioOrder.NAME }),
      "/scenarios/search",
      "scenario_id",
    ],
    ["simulations", SimulationService.method.listSimulations, () => ({}), "/exercises/search", "exercise_id"],
    [
      "simulations by name",
      SimulationService.method.listSimulations,
      () => ({ orderBy: SimulationOrder.NAME }),
      "/exercises/search",
      "exercise_id",
    ],
    [
      "simulations by start",
      SimulationService.method.listSimulations,
      () => ({ orderBy: SimulationOrder.STARTED }),
      "/exercises/search",
      "exercise_id",
    ],
    ["findings", FindingService.method.listFindings, () => ({}), "/findings/search", "finding_id"],
  ];
  for (const [what, method, args, path, id] of LISTS) {
    test(what, async () => {
      const all = await direct(path);
      const { rows, totals } = await everyPage<DescMethodUnary>(method, (await args()) as Record<string, unknown>, 17);
      expect(idsOf(rows).sort()).toEqual(all.map((row) => row[id]!).sort());
      expect(new Set(totals)).toEqual(new Set([all.length]));
    });
  }

  test("injects of one time and title", async () => {
    const scenarioId = await scenarioOfTies();
    const all = await direct(`/scenarios/${scenarioId}/injects/simple`);
    const { rows } = await everyPage(
      InjectService.method.listInjects,
      { parent: { case: "scenarioId", value: scenarioId } },
      5,
    );
    expect(all.length).toBe(20);
    expect(idsOf(rows).sort()).toEqual(all.map((row) => row.inject_id!).sort());
  });
});

test("what is written between two pages moves nothing", async () => {
  const write = (n: number) =>
    stack.ask("planner", "POST", "/api/scenarios", { scenario_name: `Written in between ${n}` });
  const before = (await direct("/scenarios/search")).map((row) => row.scenario_id!);
  for (const orderBy of [ScenarioOrder.UPDATED, ScenarioOrder.NAME]) {
    let n = 0;
    const { rows } = await everyPage(ScenarioService.method.listScenarios, { orderBy }, 13, () => write(n++));
    const ids = idsOf(rows);
    expect(new Set(ids).size).toBe(ids.length);
    expect(before.filter((id) => !ids.includes(id))).toEqual([]);
  }
});

test("what is deleted between two pages takes nothing with it", async () => {
  const made: string[] = [];
  for (let i = 0; i < 6; i++) {
    const { body } = await stack.ask("planner", "POST", "/api/scenarios", { scenario_name: `AAA soon gone ${i}` });
    made.push((body as { scenario_id: string }).scenario_id);
  }
  const gone = new Set(made);
  const stay = (await direct("/scenarios/search")).map((row) => row.scenario_id!).filter((id) => !gone.has(id));
  const take = async () => {
    const id = made.pop();
    if (id !== undefined) await stack.ask("planner", "DELETE", `/api/scenarios/${id}`);
  };
  const { rows } = await everyPage(ScenarioService.method.listScenarios, { orderBy: ScenarioOrder.NAME }, 3, take);
  const ids = idsOf(rows);
  expect(new Set(ids).size).toBe(ids.length);
  expect(stay.filter((id) => !ids.includes(id))).toEqual([]);
});

test("text is looked for as it is: _ and % stand for themselves, and blanks alone are refused", async () => {
  const named = async (query: string) =>
    (await everyPage(ScenarioService.method.listScenarios, { query })).rows.map(({ name }) => name);
  expect(await named("plan_a")).toEqual(["Plan_A 100% manual"]);
  expect(await named("100%")).toEqual(["Plan_A 100% manual"]);
  expect((await named("100")).sort()).toEqual(["PlanXA 100 manual", "Plan_A 100% manual"].sort());
  const error = await refusal(stack.call(ScenarioService.method.listScenarios, { query: "  " }, "analyst"));
  expect(error.rawMessage).toContain("query: must be more than blanks");
});

test("a search for endpoints by name finds nothing by what is not their name", async () => {
  const { rows } = await everyPage(AssetService.method.listEndpoints, { query: "agent of" });
  expect(rows).toEqual([]);
});

test("a filter on several labels gives each row once, with all its labels", async () => {
  const tags = await direct<{ tag_id: string; tag_name: string }>("/tags/search");
  const names = new Map(tags.map((tag) => [tag.tag_id, tag.tag_name]));
  const wanted = tags.slice(0, 3).map((tag) => tag.tag_name);
  for (const [method, path, id, key] of [
    [AssetService.method.listEndpoints, "/endpoints/search", "asset_id", "asset_tags"],
    [ScenarioService.method.listScenarios, "/scenarios/search", "scenario_id", "scenario_tags"],
  ] as const) {
    const all = await direct<Record<string, string[] | null>>(path);
    const expected = all.filter((row) => (row[key] ?? []).some((tag) => wanted.includes(names.get(tag)!)));
    const { rows, totals } = await everyPage<DescMethodUnary>(method, { labels: wanted }, 9);
    expect(idsOf(rows).sort()).toEqual(expected.map((row) => String(row[id])).sort());
    expect(new Set(totals)).toEqual(new Set([expected.length]));
    for (const row of rows as unknown as { id: string; labels: string[] }[]) {
      const held = expected.find((one) => String(one[id]) === row.id)?.[key] ?? [];
      expect([...row.labels].sort()).toEqual(held.map((tag) => names.get(tag)!).sort());
    }
  }
});

test("the words for truth values are names like others", async () => {
  const call = (args: object) => everyPage(ScenarioService.method.listScenarios, args);
  const [named] = (await call({ query: "True" })).rows;
  expect(named?.name).toBe("True");
  expect((await call({ categories: ["TRUE"] })).rows.map(({ name }) => name)).toEqual(["True"]);
  const { scenario } = await stack.call(ScenarioService.method.getScenario, { scenarioId: named!.id }, "analyst");
  expect(scenario?.name).toBe("True");
  expect((await everyPage(AssetService.method.listEndpoints, { hostname: "true" })).rows).toEqual([]);
});

test("a scenario that was never labelled is changed, and stays so", async () => {
  const scenarioId = await scenarioOfTies();
  const { scenario } = await stack.call(
    ScenarioService.method.updateScenario,
    { scenarioId, description: "Now with words" },
    "analyst",
  );
  expect(scenario).toMatchObject({ name: "True", description: "Now with words", labels: [] });
  // What is read by writing it back is no part of a change.
  const name = "a\0b";
  const refused = await refusal(stack.call(ScenarioService.method.updateScenario, { scenarioId, name }, "analyst"));
  expect(refused.rawMessage).toBe("name: has a NUL character, which OpenAEV cannot store");
});

test("an address is that address, and no longer one that holds it", async () => {
  const [endpoint] = await direct("/endpoints/search", { sorts: [{ property: "asset_name", direction: "desc" }] });
  const { body } = await stack.ask("planner", "GET", `/api/endpoints/${endpoint?.asset_id}`);
  const [ip = ""] = (body as { endpoint_ips: string[] }).endpoint_ips;
  const longer = {
    asset_name: "longer",
    endpoint_hostname: "longer",
    endpoint_platform: "Linux",
    endpoint_arch: "x86_64",
  };
  const made = await stack.ask("planner", "POST", "/api/endpoints/agentless", { ...longer, endpoint_ips: [`${ip}0`] });
  const { asset_id } = made.body as { asset_id: string };
  const ids = idsOf((await everyPage(AssetService.method.listEndpoints, { ip })).rows);
  expect(ids).toContain(endpoint?.asset_id);
  expect(ids).not.toContain(asset_id);
});

test("a name with letters whose case the platform folds two ways is found and read", async () => {
  const { rows } = await everyPage(ScenarioService.method.listScenarios, { query: "İSTANBUL" });
  expect(rows.map(({ name }) => name)).toEqual(["İstanbul office"]);
  const scenarioId = rows[0]?.id ?? "";
  const { scenario } = await stack.call(ScenarioService.method.getScenario, { scenarioId }, "analyst");
  expect(scenario?.name).toBe("İstanbul office");
});
