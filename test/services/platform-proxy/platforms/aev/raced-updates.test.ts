import { afterAll, beforeAll, expect, test } from "vitest";
import { ArticleService } from "#proto/aev/v1/article_service_pb.js";
import { AssetGroupService } from "#proto/aev/v1/asset_group_service_pb.js";
import { AssetService, EndpointPlatform } from "#proto/aev/v1/asset_service_pb.js";
import { ChallengeService, FlagType } from "#proto/aev/v1/challenge_service_pb.js";
import { ChannelService } from "#proto/aev/v1/channel_service_pb.js";
import { InjectService } from "#proto/aev/v1/inject_service_pb.js";
import { LessonsService } from "#proto/aev/v1/lessons_service_pb.js";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { SimulationPlanService } from "#proto/aev/v1/simulation_plan_service_pb.js";
import { VariableService } from "#proto/aev/v1/variable_service_pb.js";
import { DEFAULT_TENANT } from "../../../../../services/sandbox/aev/world.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { Desk } from "./content.js";

// The platform empties what a write leaves out, so that objects are read and
// written back whole: of two changes at once, one must not undo the other.

let stack: AevHarness;
let desk: Desk;
let scenarioId = "";

beforeAll(async () => {
  stack = await startAev();
  desk = new Desk(stack, "admin", DEFAULT_TENANT);
  const { scenario } = await desk.call(ScenarioService.method.createScenario, { name: "Raced" });
  scenarioId = scenario!.id;
});
afterAll(() => stack.close());

const DESCRIPTION = "Of one who came at once";
const NAME = "Named by another";

test("scenarios", async () => {
  const { updateScenario, getScenario } = ScenarioService.method;
  await Promise.all([
    desk.call(updateScenario, { scenarioId, name: NAME }),
    desk.call(updateScenario, { scenarioId, description: DESCRIPTION }),
    desk.call(updateScenario, { scenarioId, category: "global-crisis" }),
  ]);
  const { scenario } = await desk.call(getScenario, { scenarioId });
  expect(scenario).toMatchObject({ name: NAME, description: DESCRIPTION, category: "global-crisis" });
});

test("simulations", async () => {
  const { createSimulation, updateSimulation } = SimulationPlanService.method;
  const { simulation } = await desk.call(createSimulation, { name: "Raced" });
  const simulationId = simulation!.id;
  await Promise.all([
    desk.call(updateSimulation, { simulationId, name: NAME }),
    desk.call(updateSimulation, { simulationId, description: DESCRIPTION }),
  ]);
  const read = await desk.ask("GET", `/exercises/${simulationId}`);
  expect([read.exercise_name, read.exercise_description]).toEqual([NAME, DESCRIPTION]);
});

test("endpoints and asset groups", async () => {
  const { updateEndpoint, createEndpoint } = AssetService.method;
  const { endpoint } = await desk.call(createEndpoint, {
    name: "Raced",
    hostname: "raced.example",
    platform: EndpointPlatform.LINUX,
    arch: "x86_64",
  });
  const endpointId = endpoint!.id;
  await Promise.all([
    desk.call(updateEndpoint, { endpointId, name: NAME }),
    desk.call(updateEndpoint, { endpointId, description: DESCRIPTION }),
  ]);
  const machine = await desk.ask("GET", `/endpoints/${endpointId}`);
  expect([machine.asset_name, machine.asset_description]).toEqual([NAME, DESCRIPTION]);

  const { createAssetGroup, updateAssetGroup, getAssetGroup } = AssetGroupService.method;
  const { assetGroup } = await desk.call(createAssetGroup, { name: "Raced" });
  const assetGroupId = assetGroup!.id;
  await Promise.all([
    desk.call(updateAssetGroup, { assetGroupId, name: NAME }),
    desk.call(updateAssetGroup, { assetGroupId, description: DESCRIPTION }),
  ]);
  expect(await desk.call(getAssetGroup, { assetGroupId })).toMatchObject({
    assetGroup: { name: NAME, description: DESCRIPTION },
  });
});

test("channels, articles, challenges and templates", async () => {
  const { createChannel, updateChannel, getChannel } = ChannelService.method;
  const { channel } = await desk.call(createChannel, { name: "Raced", type: "newspaper", description: "Old" });
  const channelId = channel!.id;
  await Promise.all([
    desk.call(updateChannel, { channelId, name: NAME }),
    desk.call(updateChannel, { channelId, description: DESCRIPTION }),
  ]);
  expect((await desk.call(getChannel, { channelId })).channel).toMatchObject({ name: NAME, description: DESCRIPTION });

  const { createArticle, updateArticle, getArticle } = ArticleService.method;
  const parent = { case: "scenarioId" as const, value: scenarioId };
  const { article } = await desk.call(createArticle, { parent, channelId, name: "Raced" });
  const articleId = article!.id;
  await Promise.all([
    desk.call(updateArticle, { parent, articleId, name: NAME }),
    desk.call(updateArticle, { parent, articleId, author: DESCRIPTION }),
  ]);
  expect((await desk.call(getArticle, { parent, articleId })).article).toMatchObject({
    name: NAME,
    author: DESCRIPTION,
  });

  const { createChallenge, updateChallenge, getChallenge } = ChallengeService.method;
  const flag = (value: string) => ({ type: FlagType.VALUE, value });
  const { challenge } = await desk.call(createChallenge, { name: "Raced", flags: [flag("first")] });
  const challengeId = challenge!.id;
  const added = ["second", "third", "fourth"];
  await Promise.all(added.map((value) => desk.call(updateChallenge, { challengeId, addFlags: [flag(value)] })));
  const { challenge: read } = await desk.call(getChallenge, { challengeId });
  expect(read?.flags?.map(({ value }) => value).sort()).toEqual(["first", ...added].sort());

  const { createLessonsTemplate, updateLessonsTemplate, getLessonsTemplate } = LessonsService.method;
  const { lessonsTemplate } = await desk.call(createLessonsTemplate, { name: "Raced" });
  const lessonsTemplateId = lessonsTemplate!.id;
  await Promise.all([
    desk.call(updateLessonsTemplate, { lessonsTemplateId, name: NAME }),
    desk.call(updateLessonsTemplate, { lessonsTemplateId, description: DESCRIPTION }),
  ]);
  expect((await desk.call(getLessonsTemplate, { lessonsTemplateId })).lessonsTemplate).toMatchObject({
    name: NAME,
    description: DESCRIPTION,
  });
});

test("an inject that is disabled stays so while another changes its title", async () => {
  const { createInject, updateInject, setInjectEnabled, getInject } = InjectService.method;
  const [contract] = await desk.rows("/injector_contracts/search");
  const parent = { case: "scenarioId" as const, value: scenarioId };
  const injectorContractId = contract.injector_contract_id;
  const { inject } = await desk.call(createInject, { parent, title: "Raced", injectorContractId });
  const injectId = inject!.id;
  await Promise.all([
    desk.call(setInjectEnabled, { injectId, enabled: false }),
    desk.call(updateInject, { injectId, title: NAME }),
    desk.call(updateInject, { injectId, description: DESCRIPTION }),
  ]);
  const read = await desk.call(getInject, { injectId });
  expect(read.inject).toMatchObject({ title: NAME, description: DESCRIPTION });
  expect(read.inject?.enabled).not.toBe(true);
});

test("of several that set one variable at once, one creates it", async () => {
  const { setVariable, listVariables } = VariableService.method;
  const parent = { case: "scenarioId" as const, value: scenarioId };
  const said = await Promise.all(
    ["a", "b", "c", "d", "e"].map((value) => desk.call(setVariable, { parent, key: "raced", value })),
  );
  expect(said.filter(({ created }) => created)).toHaveLength(1);
  const { variables } = await desk.call(listVariables, { parent });
  expect(variables.filter(({ key }) => key === "raced")).toHaveLength(1);
});
