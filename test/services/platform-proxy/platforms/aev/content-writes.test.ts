import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ArticleService } from "#proto/aev/v1/article_service_pb.js";
import { ChallengeService, FlagType } from "#proto/aev/v1/challenge_service_pb.js";
import { ChannelService } from "#proto/aev/v1/channel_service_pb.js";
import { DocumentService } from "#proto/aev/v1/document_service_pb.js";
import { LessonsService } from "#proto/aev/v1/lessons_service_pb.js";
import { ReportSection, ReportService } from "#proto/aev/v1/report_service_pb.js";
import { ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { DEFAULT_TENANT as FIRST } from "../../../../../services/sandbox/aev/world.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { Desk, everyPage, type Json } from "./content.js";

const UNKNOWN = "00000000-0000-4000-8000-000000000000";
let stack: AevHarness;
let planner: Desk;
let admin: Desk;
let scenario = "";
let simulation = "";

beforeAll(async () => {
  stack = await startAev();
  planner = new Desk(stack, "planner", FIRST);
  admin = new Desk(stack, "admin", FIRST);
  scenario = (await planner.ask("POST", "/scenarios", { scenario_name: "Drill" })).scenario_id;
  simulation = (await planner.ask("POST", "/exercises", { exercise_name: "Run" })).exercise_id;
});
afterAll(() => stack.close());

const inScenario = () => ({ parent: { case: "scenarioId" as const, value: scenario } });
const notThere = (promise: Promise<unknown>) =>
  refusal(promise).then((error) => expect(error).toMatchObject({ code: Code.NotFound }));

describe("documents", () => {
  const { listDocuments, getDocument, readDocument, uploadDocument, updateDocument, deleteDocument } =
    DocumentService.method;

  test("are uploaded as text and in bytes, and read page by page", async () => {
    const text = "Zürich übt. ".repeat(500);
    const { document, existed } = await planner.call(uploadDocument, {
      name: "übung.txt",
      body: { case: "content", value: text },
      description: "For the drill",
      scenarioIds: [scenario],
    });
    expect(existed).toBeUndefined();
    expect(document).toMatchObject({
      name: "übung.txt",
      mimeType: expect.stringMatching(/^text\/plain/),
      description: "For the drill",
      scenarios: [{ id: scenario, name: "Drill" }],
    });
    const documentId = document?.id as string;
    const first = await planner.call(readDocument, { documentId, pageBytes: 1024 });
    expect(first).toMatchObject({ page: 1, pageCount: Math.ceil(Buffer.byteLength(text) / 1024) });
    let whole = "";
    for (let page = 1; page <= first.pageCount; page++) {
      whole += (await planner.call(readDocument, { documentId, page, pageBytes: 1024 })).text;
    }
    expect(whole).toBe(text);
    const picture = await planner.call(uploadDocument, {
      name: "logo.png",
      body: { case: "contentBase64", value: Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 255]) },
      mimeType: "image/png",
    });
    const binary = await refusal(planner.call(readDocument, { documentId: picture.document?.id as string }));
    expect(binary).toMatchObject({ code: Code.FailedPrecondition, rawMessage: expect.stringContaining("image/png") });
  });

  test("of the same content are one, and the answer says so", async () => {
    const body = { case: "content" as const, value: "The same" };
    const first = await planner.call(uploadDocument, { name: "a.txt", body, description: "First" });
    const second = await planner.call(uploadDocument, { name: "b.txt", body, scenarioIds: [scenario] });
    expect(second).toMatchObject({
      existed: true,
      document: { id: first.document?.id, name: "a.txt", description: "First", scenarios: [{ id: scenario }] },
    });
    const again = await planner.call(uploadDocument, { name: "a.txt", body, description: "First" });
    expect(again).toMatchObject({ existed: true, document: { id: first.document?.id } });
  });

  test("of the same content at once are one, and one answer alone says that it is new", async () => {
    const body = { case: "content" as const, value: "The same at once" };
    const said = await Promise.all([1, 2, 3, 4, 5].map(() => planner.call(uploadDocument, { name: "once.txt", body })));
    expect(new Set(said.map(({ document }) => document?.id)).size).toBe(1);
    expect(said.filter(({ existed }) => existed !== true).length).toBe(1);
  });

  test("keep what a change leaves out, and the links that the platform keeps are told", async () => {
    const [label] = await planner.rows("/tags/search");
    const { document } = await planner.call(uploadDocument, {
      name: "kept.txt",
      body: { case: "content", value: "Kept" },
      description: "Old",
      labels: [label.tag_name],
      scenarioIds: [scenario],
      simulationIds: [simulation],
    });
    const documentId = document?.id as string;
    const changed = await planner.call(updateDocument, { documentId, description: "New" });
    expect(changed).toMatchObject({
      document: {
        description: "New",
        labels: [label.tag_name],
        scenarios: [{ id: scenario }],
        simulations: [{ id: simulation }],
      },
      stillLinked: [],
    });
    const kept = await planner.call(updateDocument, { documentId, clearScenarios: true });
    expect(kept).toMatchObject({ document: { scenarios: [{ id: scenario }] }, stillLinked: [{ id: scenario }] });
    const gone = await admin.call(updateDocument, { documentId, clearScenarios: true });
    expect(gone).toMatchObject({ document: { scenarios: [], simulations: [{ id: simulation }] }, stillLinked: [] });
    await planner.call(deleteDocument, { documentId });
    await notThere(planner.call(getDocument, { documentId }));
  });

  test("are found by name, and tell what hands them out as far as one sees that", async () => {
    const { rows } = await everyPage(planner, listDocuments);
    expect(rows.map(({ name }) => name).sort()).toEqual(
      (await planner.rows("/documents/search")).map((row) => row.document_name).sort(),
    );
    const document_id = rows[0].id;
    const [channel] = await planner.ask("GET", "/channels");
    const article = {
      article_name: "With a file",
      article_channel: channel.channel_id,
      article_documents: [document_id],
    };
    const { article_id } = await planner.ask("POST", `/scenarios/${scenario}/articles`, article);
    const { document } = await planner.call(getDocument, { documentId: document_id });
    expect(document?.uses).toMatchObject([{ type: "article", id: article_id, name: "With a file" }]);
    const refused = await refusal(stack.call(getDocument, { documentId: document_id }, "nobody"));
    expect(refused.rawMessage).toContain("ACCESS_DOCUMENTS");
  });
});

test("channels are listed, read, made, changed field by field and deleted", async () => {
  const { listChannels, getChannel, createChannel, updateChannel, deleteChannel } = ChannelService.method;
  const made = await planner.call(createChannel, { name: "Evening Post", type: "newspaper", description: "Invented" });
  const channelId = made.channel?.id as string;
  const { rows } = await everyPage(planner, listChannels, {}, 1);
  expect(rows.map(({ name }) => name)).toEqual([...rows.map(({ name }) => name)].sort());
  await planner.ask("PUT", `/channels/${channelId}`, {
    ...{ channel_name: "Evening Post", channel_type: "newspaper", channel_description: "Invented" },
    channel_primary_color_dark: "#112233",
  });
  const { channel } = await planner.call(updateChannel, { channelId, description: "Changed", mode: "logo" });
  expect(channel).toMatchObject({ name: "Evening Post", description: "Changed", mode: "logo", colors: ["#112233"] });
  expect((await planner.call(deleteChannel, { channelId })).deleted).toMatchObject({ name: "Evening Post" });
  await notThere(planner.call(getChannel, { channelId }));
});

describe("articles", () => {
  const { listArticles, getArticle, createArticle, updateArticle, deleteArticle } = ArticleService.method;

  test("are written, read whole, changed and deleted, below their own scenario alone", async () => {
    const [channel] = await planner.ask("GET", "/channels");
    const { article } = await planner.call(createArticle, {
      ...inScenario(),
      channelId: channel.channel_id,
      name: "Mail scandal",
      content: "Word ".repeat(100),
      likes: 3,
    });
    const articleId = article?.id as string;
    expect(article).toMatchObject({ channel: { name: channel.channel_name }, likes: 3 });
    const { articles } = await planner.call(listArticles, { ...inScenario(), query: "scandal" });
    expect(articles).toMatchObject([{ id: articleId, content: "", channel: { id: channel.channel_id } }]);
    const { article: changed } = await planner.call(updateArticle, { ...inScenario(), articleId, author: "Desk" });
    expect(changed).toMatchObject({ name: "Mail scandal", author: "Desk", likes: 3, content: "Word ".repeat(100) });
    const other = (await planner.ask("POST", "/scenarios", { scenario_name: "Another" })).scenario_id;
    const elsewhere = { parent: { case: "scenarioId" as const, value: other } };
    await notThere(planner.call(updateArticle, { ...elsewhere, articleId, author: "x" }));
    await notThere(planner.call(deleteArticle, { ...elsewhere, articleId }));
    await planner.call(deleteArticle, { ...inScenario(), articleId });
    await notThere(planner.call(getArticle, { ...inScenario(), articleId }));
    await notThere(
      planner.call(createArticle, {
        ...inScenario(),
        channelId: channel.channel_id,
        name: "x",
        documentIds: [UNKNOWN],
      }),
    );
  });

  test("need a right or a grant, and both are named", async () => {
    const reader = new Desk(stack, "reader", FIRST);
    const [channel] = await planner.ask("GET", "/channels");
    const error = await refusal(
      reader.call(createArticle, { ...inScenario(), channelId: channel.channel_id, name: "x" }),
    );
    expect(error.rawMessage).toContain("MANAGE_ASSESSMENT");
    expect(error.rawMessage).toContain("PLANNER on this scenario");
  });
});

test("challenges keep their flags over a change", async () => {
  const { listChallenges, getChallenge, createChallenge, updateChallenge, deleteChallenge } = ChallengeService.method;
  const flags = [
    { type: FlagType.VALUE_CASE, value: "Port-4444" },
    { type: FlagType.REGEXP, value: "44+" },
  ];
  const { challenge } = await planner.call(createChallenge, { name: "Which port?", flags, score: 10 });
  const challengeId = challenge?.id as string;
  const { challenge: changed } = await planner.call(updateChallenge, { challengeId, category: "network" });
  expect(changed).toMatchObject({ name: "Which port?", category: "network", score: 10, flags });
  const added = await planner.call(updateChallenge, {
    challengeId,
    addFlags: [{ type: FlagType.VALUE, value: "other" }],
    removeFlags: ["44+"],
  });
  expect(added.challenge?.flags.map(({ value }) => value)).toEqual(["Port-4444", "other"]);
  const none = await refusal(planner.call(updateChallenge, { challengeId, removeFlags: ["Port-4444", "other"] }));
  expect(none).toMatchObject({ code: Code.InvalidArgument });
  const { challenges } = await planner.call(listChallenges, { query: "NETWORK" });
  expect(challenges.map(({ id }) => id)).toContain(challengeId);
  expect(challenges.every((row) => row.flags.length === 0)).toBe(true);
  expect((await planner.call(listChallenges, inScenario())).challenges).toEqual([]);
  await planner.call(deleteChallenge, { challengeId });
  await notThere(planner.call(getChallenge, { challengeId }));
});

test("an article is published when an inject says so: after the start of a scenario, at a time of a simulation that has a start", async () => {
  const { getArticle, listArticles } = ArticleService.method;
  const [channel] = await planner.ask("GET", "/channels");
  const { content } = await planner.ask("POST", "/injector_contracts/search", {
    size: 1000,
    include_full_details: true,
  });
  const publish = content.find((one: Json) => one.injector_contract_injector_type === "openaev_channel");
  const start = new Date(Date.now() + 86_400_000).toISOString();
  for (const [path, parent] of [
    [`/scenarios/${scenario}`, { case: "scenarioId", value: scenario }],
    [`/exercises/${simulation}`, { case: "simulationId", value: simulation }],
  ] as const) {
    const made = await planner.ask("POST", `${path}/articles`, {
      article_name: "Told",
      article_channel: channel.channel_id,
    });
    const read = async () => (await planner.call(getArticle, { parent, articleId: made.article_id })).article;
    expect(await read()).toMatchObject({ name: "Told" });
    expect((await read())?.publishDelaySeconds).toBeUndefined();
    await planner.ask("POST", `${path}/injects`, {
      inject_title: "Publish",
      inject_injector_contract: publish.injector_contract_id,
      inject_content: { articles: [made.article_id], expectations: [] },
      inject_depends_duration: 1800,
      inject_enabled: true,
    });
    expect(await read()).toMatchObject({ publishDelaySeconds: 1800 });
    // Without a start, the platform tells half an hour from now.
    expect((await read())?.publishedAt).toBeUndefined();
    if (parent.case === "simulationId") {
      await planner.ask("PUT", `${path}/start-date`, { exercise_start_date: start });
      const at = BigInt(Math.floor(Date.parse(start) / 1_000) + 1_800);
      const told = [(await read())?.publishedAt?.seconds].map((seconds) => Number(seconds) - Number(at));
      expect(Math.abs(told[0] as number)).toBeLessThanOrEqual(60);
    }
    const { articles } = await planner.call(listArticles, { parent });
    expect(articles.find(({ id }) => id === made.article_id)).toMatchObject({ publishDelaySeconds: 1800 });
  }
});

test("who may change a scenario by a grant writes an article and applies a template without a right on channels or templates", async () => {
  const granted = new Desk(stack, "granted", FIRST);
  const { scenarios } = await granted.call(ScenarioService.method.listScenarios, {});
  const parent = { case: "scenarioId", value: scenarios[0]!.id } as const;
  const [channel] = await planner.ask("GET", "/channels");
  const made = await granted.call(ArticleService.method.createArticle, {
    parent,
    channelId: channel.channel_id,
    name: "By a grant",
  });
  expect(made.article).toMatchObject({ name: "By a grant", channel: { id: channel.channel_id } });
  const [template] = await planner.ask("GET", "/lessons_templates");
  const applied = await granted.call(LessonsService.method.applyLessonsTemplate, {
    parent,
    lessonsTemplateId: template.lessonstemplate_id,
  });
  expect(applied.categories).toBeGreaterThan(0);
});

describe("lessons", () => {
  const method = LessonsService.method;

  test("a template of more questions than a call writes is refused before anything is written", async () => {
    const many = (length: number) => Array.from({ length }, (_, n) => ({ content: `Question ${n}` }));
    const categories = [1, 2, 3].map((n) => ({ name: `Part ${n}`, questions: many(21) }));
    const tooMany = {
      code: Code.InvalidArgument,
      rawMessage: expect.stringContaining("this call needs 66; nothing was"),
    };
    const name = "Too long to be told";
    expect(await refusal(planner.call(method.createLessonsTemplate, { name, categories }))).toMatchObject(tooMany);
    expect((await planner.call(method.listLessonsTemplates, { query: name })).lessonsTemplates).toEqual([]);

    const full = [...categories.slice(0, 2), { name: "Part 3", questions: many(19) }];
    const { lessonsTemplate } = await planner.call(method.createLessonsTemplate, { name, categories: full });
    const lessonsTemplateId = lessonsTemplate?.id as string;
    const update = {
      lessonsTemplateId,
      categories: [{ name: "One more", questions: [{ content: "Why?" }] }],
    };
    expect(await refusal(planner.call(method.updateLessonsTemplate, update))).toMatchObject(tooMany);
    const kept = await planner.call(method.getLessonsTemplate, { lessonsTemplateId });
    expect(kept.lessonsTemplate).toEqual(lessonsTemplate);
    await planner.call(method.deleteLessonsTemplate, { lessonsTemplateId });
  });

  test("a template that cannot be made whole is refused before anything is written", async () => {
    const name = "Never made";
    const known = { id: "00000000-0000-4000-8000-000000000000", name: "Known", questions: [] };
    const blankQuestion = { name: "Seen", questions: [{ content: "Who?" }, { content: "  " }] };
    for (const [categories, code] of [
      [[{ name: "New", questions: [] }, known], Code.NotFound],
      [[{ name: " ", questions: [] }], Code.InvalidArgument],
      [[blankQuestion], Code.InvalidArgument],
      [[{ name: "\u0001", questions: [] }], Code.InvalidArgument],
      [[{ name: "New", questions: [{ content: "Who?\0" }] }], Code.InvalidArgument],
      [[{ name: "New", description: "\0", questions: [] }], Code.InvalidArgument],
    ] as const) {
      const made = planner.call(method.createLessonsTemplate, { name, categories: [...categories] as never });
      expect((await refusal(made)).code).toBe(code);
    }
    expect((await planner.call(method.listLessonsTemplates, { query: name })).lessonsTemplates).toEqual([]);
  });

  test("a template is made with its questions, and changed by what it is to be", async () => {
    const { lessonsTemplate: made } = await planner.call(method.createLessonsTemplate, {
      name: "After phishing",
      categories: [
        { name: "Seen", questions: [{ content: "Who saw it?" }, { content: "When?", explanation: "To the minute" }] },
        { name: "Told", questions: [{ content: "Whom?" }] },
      ],
    });
    const lessonsTemplateId = made?.id as string;
    const shape = (template: Json) =>
      template.categories.map((one: Json) => [one.name, one.questions.map((q: Json) => q.content)]);
    expect(shape(made)).toEqual([
      ["Seen", ["Who saw it?", "When?"]],
      ["Told", ["Whom?"]],
    ]);
    const [seen, told] = (made as Json).categories;
    const { lessonsTemplate: changed } = await planner.call(method.updateLessonsTemplate, {
      lessonsTemplateId,
      description: "New",
      categories: [
        { name: "New first", questions: [] },
        { id: seen.id, name: "Seen", questions: [{ id: seen.questions[1].id, content: "At what time?" }] },
      ],
    });
    expect(shape(changed)).toEqual([
      ["New first", []],
      ["Seen", ["At what time?"]],
    ]);
    expect(changed).toMatchObject({ name: "After phishing", description: "New" });
    await notThere(
      planner.call(method.updateLessonsTemplate, { lessonsTemplateId, categories: [{ id: told.id, name: "Told" }] }),
    );
    const kept = await planner.call(method.getLessonsTemplate, { lessonsTemplateId });
    expect(shape(kept.lessonsTemplate)).toEqual(shape(changed));

    const applied = await planner.call(method.applyLessonsTemplate, { ...inScenario(), lessonsTemplateId });
    expect(applied).toMatchObject({ categoriesAdded: [{}, {}], questionsAdded: 1, categories: 2 });
    const { lessons, totalSize } = await planner.call(method.listLessons, inScenario());
    expect(lessons.map(({ category, content }) => [category?.name, content])).toEqual([
      ["New first", ""],
      ["Seen", "At what time?"],
    ]);
    expect(totalSize).toBe(2);
    await planner.call(method.deleteLessonsTemplate, { lessonsTemplateId });
    await notThere(planner.call(method.getLessonsTemplate, { lessonsTemplateId }));
  });

  test("answers are those of one player where asked", async () => {
    const [row] = (await planner.rows("/exercises/search")).sort((a, b) =>
      a.exercise_updated_at < b.exercise_updated_at ? 1 : -1,
    );
    const runs = (await planner.rows("/exercises/search")).map(({ exercise_id }) => exercise_id);
    const found: Json[] = [];
    for (const id of [row.exercise_id, ...runs]) {
      found.push(...(await planner.call(method.listLessonsAnswers, { simulationId: id })).answers);
      if (found.length === 0) continue;
      const of = async (playerId: string) =>
        (await planner.call(method.listLessonsAnswers, { simulationId: id, playerId })).answers.length;
      expect(await of(found[0].player.id)).toBe(found.length);
      expect(await of(UNKNOWN)).toBe(0);
      break;
    }
    expect(found).toMatchObject([{ score: 60 }, { score: 60 }]);
  });
});

test("reports show what they are to show, and are of their simulation alone", async () => {
  const method = ReportService.method;
  const simulationId = simulation;
  const { SCORE_DETAILS, INJECT_RESULT } = ReportSection;
  const { report } = await planner.call(method.createSimulationReport, { simulationId, name: "Review" });
  const reportId = report?.id as string;
  expect(report?.sections).toHaveLength(6);
  const { report: fewer } = await planner.call(method.updateSimulationReport, {
    simulationId,
    reportId,
    sections: [INJECT_RESULT, SCORE_DETAILS],
    observation: "Late",
  });
  expect(fewer).toMatchObject({ name: "Review", sections: [SCORE_DETAILS, INJECT_RESULT], observation: "Late" });
  const { report: renamed } = await planner.call(method.updateSimulationReport, {
    simulationId,
    reportId,
    name: "Final",
  });
  expect(renamed).toMatchObject({ name: "Final", sections: [SCORE_DETAILS, INJECT_RESULT], observation: "Late" });
  const other = (await planner.ask("POST", "/exercises", { exercise_name: "Other" })).exercise_id;
  await notThere(planner.call(method.updateSimulationReport, { simulationId: other, reportId, name: "x" }));
  await notThere(planner.call(method.deleteSimulationReport, { simulationId: other, reportId }));
  expect((await planner.call(method.listSimulationReports, { simulationId })).reports).toMatchObject([
    { name: "Final" },
  ]);
  await planner.call(method.deleteSimulationReport, { simulationId, reportId });
  await notThere(planner.call(method.getSimulationReport, { simulationId, reportId }));
});
