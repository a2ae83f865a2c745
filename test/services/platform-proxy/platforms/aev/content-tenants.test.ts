import type { DescMethodUnary } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ArticleService } from "#proto/aev/v1/article_service_pb.js";
import { AssetGroupService } from "#proto/aev/v1/asset_group_service_pb.js";
import { AssetService } from "#proto/aev/v1/asset_service_pb.js";
import { AudienceService } from "#proto/aev/v1/audience_service_pb.js";
import { ChallengeService } from "#proto/aev/v1/challenge_service_pb.js";
import { ChannelService } from "#proto/aev/v1/channel_service_pb.js";
import { DocumentService } from "#proto/aev/v1/document_service_pb.js";
import { FindingService } from "#proto/aev/v1/finding_service_pb.js";
import { LessonsService } from "#proto/aev/v1/lessons_service_pb.js";
import { ReportService } from "#proto/aev/v1/report_service_pb.js";
import { VulnerabilityService } from "#proto/aev/v1/vulnerability_service_pb.js";
import { DEFAULT_TENANT as FIRST, SECOND_TENANT as SECOND } from "../../../../../services/sandbox/aev/world.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { Desk, type Json } from "./content.js";

// Who works in one tenant reaches nothing of another by its id, whatever is
// asked: the platform itself would tell, change and delete it.

let stack: AevHarness;
let here: Desk;
let there: Desk;
/** One object of each kind in each tenant. */
const ids: Record<"own" | "foreign", Record<string, string>> = { own: {}, foreign: {} };

const SEARCHES = {
  scenario: ["/scenarios/search", "scenario_id"],
  simulation: ["/exercises/search", "exercise_id"],
  endpoint: ["/endpoints/search", "asset_id"],
  group: ["/asset_groups/search", "asset_group_id"],
  team: ["/teams/search", "team_id"],
  finding: ["/findings/search", "finding_id"],
  document: ["/documents/search", "document_id"],
  vulnerability: ["/vulnerabilities/search", "vulnerability_id"],
} as const;
const LISTS = {
  channel: ["/channels", "channel_id"],
  challenge: ["/challenges", "challenge_id"],
  template: ["/lessons_templates", "lessonstemplate_id"],
} as const;

beforeAll(async () => {
  stack = await startAev();
  here = new Desk(stack, "admin", FIRST);
  there = new Desk(stack, "admin", SECOND);
  for (const [whose, desk] of [
    ["own", here],
    ["foreign", there],
  ] as const) {
    const found = ids[whose];
    for (const [kind, [route, id]] of Object.entries(SEARCHES)) found[kind] = (await desk.rows(route))[0][id];
    for (const [kind, [route, id]] of Object.entries(LISTS)) found[kind] = (await desk.ask("GET", route))[0][id];
    const article = { article_name: "One", article_channel: found.channel };
    found.article = (await desk.ask("POST", `/scenarios/${found.scenario}/articles`, article)).article_id;
    const report = { report_name: "One", report_informations: [] };
    found.report = (await desk.ask("POST", `/exercises/${found.simulation}/reports`, report)).report_id;
    const finding = (await desk.rows("/findings/search"))[0];
    found.inject = finding.finding_inject.inject_id;
  }
});
afterAll(() => stack.close());

/** Everything that stands in the second tenant. */
async function standing(): Promise<string> {
  const parts: Json[] = [];
  for (const [route, id] of Object.values(SEARCHES)) {
    parts.push((await there.rows(route)).sort((a, b) => (a[id] < b[id] ? -1 : 1)));
  }
  for (const [route] of Object.values(LISTS)) parts.push(await there.ask("GET", route));
  parts.push(await there.ask("GET", `/scenarios/${ids.foreign.scenario}/articles`));
  parts.push(await there.ask("GET", `/exercises/${ids.foreign.simulation}/reports`));
  parts.push(await there.ask("GET", `/scenarios/${ids.foreign.scenario}/lessons_categories`));
  return JSON.stringify(parts);
}

type Ids = Record<string, string>;
/** Each tool with arguments of which one part is of the other tenant. */
const CALLS: readonly (readonly [DescMethodUnary, (own: Ids, foreign: Ids) => object])[] = [
  [AssetService.method.getEndpoint, (_, foreign) => ({ endpointId: foreign.endpoint })],
  [AssetService.method.updateEndpoint, (_, foreign) => ({ endpointId: foreign.endpoint, name: "x" })],
  [AssetService.method.deleteEndpoint, (_, foreign) => ({ endpointId: foreign.endpoint })],
  [AssetGroupService.method.getAssetGroup, (_, foreign) => ({ assetGroupId: foreign.group })],
  [AssetGroupService.method.updateAssetGroup, (_, foreign) => ({ assetGroupId: foreign.group, name: "x" })],
  [
    AssetGroupService.method.setAssetGroupAssets,
    (_, foreign) => ({ assetGroupId: foreign.group, clearEndpoints: true }),
  ],
  [
    AssetGroupService.method.setAssetGroupAssets,
    (own, foreign) => ({ assetGroupId: own.group, endpointIds: [foreign.endpoint] }),
  ],
  [AssetGroupService.method.deleteAssetGroup, (_, foreign) => ({ assetGroupId: foreign.group })],
  [AudienceService.method.listPlayers, (_, foreign) => ({ teamId: foreign.team })],
  [FindingService.method.getFinding, (_, foreign) => ({ findingId: foreign.finding })],
  [FindingService.method.createFinding, (_, foreign) => ({ injectId: foreign.inject, type: "cve", value: "x" })],
  [FindingService.method.updateFinding, (_, foreign) => ({ findingId: foreign.finding, value: "x" })],
  [FindingService.method.deleteFinding, (_, foreign) => ({ findingId: foreign.finding })],
  [
    VulnerabilityService.method.getVulnerability,
    (_, { vulnerability: value }) => ({ by: { case: "vulnerabilityId", value } }),
  ],
  [
    VulnerabilityService.method.updateVulnerability,
    (_, foreign) => ({ vulnerabilityId: foreign.vulnerability, description: "x" }),
  ],
  [VulnerabilityService.method.deleteVulnerability, (_, foreign) => ({ vulnerabilityId: foreign.vulnerability })],
  [DocumentService.method.getDocument, (_, foreign) => ({ documentId: foreign.document })],
  [DocumentService.method.readDocument, (_, foreign) => ({ documentId: foreign.document })],
  [DocumentService.method.updateDocument, (_, foreign) => ({ documentId: foreign.document, description: "x" })],
  [
    DocumentService.method.updateDocument,
    (own, foreign) => ({ documentId: own.document, scenarioIds: [foreign.scenario] }),
  ],
  [DocumentService.method.deleteDocument, (_, foreign) => ({ documentId: foreign.document })],
  [
    DocumentService.method.uploadDocument,
    (_, foreign) => ({ name: "x.txt", body: { case: "content", value: "x" }, simulationIds: [foreign.simulation] }),
  ],
  [ChannelService.method.getChannel, (_, foreign) => ({ channelId: foreign.channel })],
  [ChannelService.method.updateChannel, (_, foreign) => ({ channelId: foreign.channel, name: "x" })],
  [ChannelService.method.deleteChannel, (_, foreign) => ({ channelId: foreign.channel })],
  [ArticleService.method.listArticles, (_, { scenario: value }) => ({ parent: { case: "scenarioId", value } })],
  ...(["getArticle", "updateArticle", "deleteArticle"] as const).flatMap((name) =>
    (["own", "foreign"] as const).map((whose): (typeof CALLS)[number] => [
      ArticleService.method[name],
      (own, foreign) => ({
        parent: { case: "scenarioId", value: { own, foreign }[whose].scenario },
        articleId: foreign.article,
        ...(name === "updateArticle" && { name: "x" }),
      }),
    ]),
  ),
  [
    ArticleService.method.createArticle,
    (own, foreign) => ({ parent: { case: "scenarioId", value: own.scenario }, channelId: foreign.channel, name: "x" }),
  ],
  [
    ArticleService.method.createArticle,
    (own, foreign) => ({
      parent: { case: "scenarioId", value: own.scenario },
      channelId: own.channel,
      name: "x",
      documentIds: [foreign.document],
    }),
  ],
  [ChallengeService.method.getChallenge, (_, foreign) => ({ challengeId: foreign.challenge })],
  [ChallengeService.method.updateChallenge, (_, foreign) => ({ challengeId: foreign.challenge, name: "x" })],
  [ChallengeService.method.deleteChallenge, (_, foreign) => ({ challengeId: foreign.challenge })],
  [ChallengeService.method.listChallenges, (_, { scenario: value }) => ({ parent: { case: "scenarioId", value } })],
  [LessonsService.method.getLessonsTemplate, (_, foreign) => ({ lessonsTemplateId: foreign.template })],
  [
    LessonsService.method.updateLessonsTemplate,
    (_, foreign) => ({ lessonsTemplateId: foreign.template, clearCategories: true }),
  ],
  [LessonsService.method.deleteLessonsTemplate, (_, foreign) => ({ lessonsTemplateId: foreign.template })],
  [LessonsService.method.listLessons, (_, { scenario: value }) => ({ parent: { case: "scenarioId", value } })],
  [LessonsService.method.listLessonsAnswers, (_, foreign) => ({ simulationId: foreign.simulation })],
  [
    LessonsService.method.applyLessonsTemplate,
    (own, foreign) => ({ parent: { case: "scenarioId", value: own.scenario }, lessonsTemplateId: foreign.template }),
  ],
  [
    LessonsService.method.applyLessonsTemplate,
    (own, foreign) => ({ parent: { case: "scenarioId", value: foreign.scenario }, lessonsTemplateId: own.template }),
  ],
  ...(["getSimulationReport", "updateSimulationReport", "deleteSimulationReport"] as const).flatMap((name) =>
    (["own", "foreign"] as const).map((whose): (typeof CALLS)[number] => [
      ReportService.method[name],
      (own, foreign) => ({
        simulationId: { own, foreign }[whose].simulation,
        reportId: foreign.report,
        ...(name === "updateSimulationReport" && { name: "x" }),
      }),
    ]),
  ),
];

test(`of ${CALLS.length} calls with an id of another tenant each finds nothing, and nothing there changes`, async () => {
  const before = await standing();
  const wrong: string[] = [];
  for (const [method, args] of CALLS) {
    const said = await here.call(method, args(ids.own, ids.foreign) as never).then(
      () => "answered",
      (error: ConnectError) => error.rawMessage,
    );
    if (!said.includes("there is no")) wrong.push(`${method.name}: ${said}`);
  }
  expect(wrong).toEqual([]);
  expect(await standing()).toBe(before);
});
