import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import type { Json } from "../platform.js";
import { inTenant, personOf, refuses, type Stage, seenBy } from "../stage.js";
import { FIRST } from "../world.js";
import { SEERS } from "./lists.js";
import { ask, found, type Life, listTruth, type Place, truthsOf, WRITERS } from "./lives.js";

const told = (value: unknown): unknown => value || undefined;
const lower = (text: string): string => text.toLowerCase();
const sorted = (list: unknown): string[] => [...((list ?? []) as string[])].sort();
const ids = (list: unknown): string[] => ((list ?? []) as Json[]).map(({ id }) => id).sort();
const labelOf = ({ world }: Stage, tenant: string): string => world.ids[tenant === FIRST ? "red" : "otherTag"]!;
const scenarioIn = ({ world }: Stage, tenant: string): string => world.ids[tenant === FIRST ? "full" : "other1"]!;
const runIn = ({ world }: Stage, tenant: string): string => world.ids[tenant === FIRST ? "run0" : "otherRun"]!;
const whole = (route: string) => (stage: Stage, tenant: string) => ask(stage, tenant, "GET", route);
/** What is listed without pages, as somebody. */
const asSeen =
  (route: (stage: Stage, tenant: string) => string) =>
  (stage: Stage, person: string): Promise<Json[] | undefined> =>
    seenBy(stage, person).read(route(stage, stage.world.tenantOf(person)));

/** Uploads a text past the tools; its id. */
async function upload(stage: Stage, tenant: string, name: string, input: object): Promise<string> {
  const form = new FormData();
  form.append("input", new Blob([JSON.stringify(input)], { type: "application/json" }));
  form.append("file", new Blob([`Text of ${name} ${Math.random()}`], { type: "text/plain" }), `${name}.txt`);
  const { platform, world, issuer } = stage;
  const reply = await fetch(new URL(`/api/tenants/${tenant}/documents`, platform.url), {
    method: "POST",
    headers: {
      accept: "application/json",
      authorization: `Bearer ${issuer.token(world.emails.administrator!, platform.url)}`,
    },
    body: form,
  });
  if (!reply.ok) throw new Error(`upload: ${reply.status} ${await reply.text()}`);
  const { document_id: id } = (await reply.json()) as Json;
  world.removeLater(tenant, `/documents/${id}`);
  return id;
}

const DOCUMENT: Life = {
  noun: "document",
  place: () => ({ route: "/documents" }),
  idKey: "document_id",
  argument: "document_id",
  member: "document",
  async all(stage, tenant) {
    const rows = await found(stage, tenant, "/documents/search", "document_id");
    return rows.map((one) => ({
      ...one,
      document_tags: sorted(one.document_tags),
      document_scenarios: sorted(one.document_scenarios),
      document_exercises: sorted(one.document_exercises),
    }));
  },
  make: (stage, tenant, name) =>
    upload(stage, tenant, name, {
      document_description: "Kept",
      document_tags: [labelOf(stage, tenant)],
      document_scenarios: [scenarioIn(stage, tenant)],
      document_exercises: [runIn(stage, tenant)],
    }),
  is(one, direct) {
    expect(one).toMatchObject({ id: direct.document_id, name: direct.document_name });
    expect(one.mime_type).toBe(told(direct.document_type));
    expect(one.description).toBe(told(direct.document_description));
    expect(((one.labels ?? []) as string[]).length).toBe((direct.document_tags ?? []).length);
    // What the person does not see is not told.
    for (const id of ids(one.scenarios)) expect(direct.document_scenarios).toContain(id);
    for (const id of ids(one.simulations)) expect(direct.document_exercises).toContain(id);
  },
  read: { tool: "get_document" },
  create: {
    tool: "upload_document",
    args: (stage, name, tenant) => ({
      name: `${name}.txt`,
      content: `What ${name} says ${Math.random()}`,
      description: "New",
      labels: [labelOf(stage, tenant)],
      scenario_ids: [scenarioIn(stage, tenant)],
    }),
  },
  update: {
    tool: "update_document",
    changes: (stage, tenant) => [
      [{ description: "New" }, ["document_description"]],
      [{ description: "" }, ["document_description"]],
      [{ clear_labels: true }, ["document_tags"]],
      [{ labels: [labelOf(stage, tenant)] }, ["document_tags"]],
    ],
  },
  remove: { tool: "delete_document" },
  right: "_DOCUMENTS",
};

const CHANNEL: Life = {
  noun: "channel",
  place: () => ({ route: "/channels" }),
  idKey: "channel_id",
  argument: "channel_id",
  member: "channel",
  all: whole("/channels"),
  async make(stage, tenant, name) {
    const body = { channel_name: name, channel_type: "newspaper", channel_description: "Kept" };
    const { channel_id: id } = await ask(stage, tenant, "POST", "/channels", body);
    const colours = { channel_mode: "title_logo", channel_primary_color_dark: "#112233" };
    await ask(stage, tenant, "PUT", `/channels/${id}`, { ...body, ...colours });
    return id;
  },
  is(one, direct) {
    expect(one).toMatchObject({ id: direct.channel_id, name: direct.channel_name });
    expect(one.type).toBe(told(direct.channel_type));
    expect(one.description).toBe(told(direct.channel_description));
    expect(one.mode).toBe(told(direct.channel_mode));
    expect(one.colors ?? []).toEqual(direct.channel_primary_color_dark ? [direct.channel_primary_color_dark] : []);
  },
  read: { tool: "get_channel" },
  create: { tool: "create_channel", args: (_, name) => ({ name, type: "tv", description: "New" }) },
  update: {
    tool: "update_channel",
    changes: ({ world }) => [
      [{ name: `Renamed ${world.run}` }, ["channel_name"]],
      [{ description: "New" }, ["channel_description"]],
      [{ type: "microblogging", mode: "logo" }, ["channel_type", "channel_mode"]],
    ],
  },
  remove: { tool: "delete_channel" },
  right: "_CHANNELS",
  ignored: ["channel_updated_at"],
};

const channelIn = ({ world }: Stage, tenant: string): string =>
  world.ids[tenant === FIRST ? "channel" : "otherChannel"]!;

const articlesOf = (stage: Stage, tenant: string): Place => {
  const id = scenarioIn(stage, tenant);
  return { route: `/scenarios/${id}/articles`, args: { scenario_id: id } };
};

const ARTICLE: Life = {
  noun: "article",
  place: articlesOf,
  idKey: "article_id",
  argument: "article_id",
  member: "article",
  async all(stage, tenant) {
    const run = `/exercises/${runIn(stage, tenant)}/articles`;
    const other = await ask(stage, tenant, "GET", run);
    return [...(await ask(stage, tenant, "GET", articlesOf(stage, tenant).route)), ...other];
  },
  async make(stage, tenant, name) {
    const body = {
      article_name: name,
      article_content: "Kept ".repeat(40),
      article_author: "Desk",
      article_shares: 1,
      article_likes: 2,
      article_comments: 3,
      article_channel: channelIn(stage, tenant),
      article_documents: [await DOCUMENT.make(stage, tenant, `file ${name}`)],
    };
    return (await ask(stage, tenant, "POST", articlesOf(stage, tenant).route, body)).article_id;
  },
  is(one, direct) {
    expect(one).toMatchObject({
      id: direct.article_id,
      name: direct.article_name,
      channel: { id: direct.article_channel },
    });
    expect(one.content).toBe(told(direct.article_content));
    expect(one.author).toBe(told(direct.article_author));
    expect(one.likes).toBe(direct.article_likes ?? undefined);
    expect(one.shares).toBe(direct.article_shares ?? undefined);
    expect(ids(one.documents)).toEqual(sorted(direct.article_documents));
  },
  read: { tool: "get_article" },
  create: {
    tool: "create_article",
    args: (stage, name, tenant) => ({
      channel_id: channelIn(stage, tenant),
      name,
      content: "New",
      author: "Us",
    }),
  },
  update: {
    tool: "update_article",
    changes: () => [
      [{ name: "Another headline" }, ["article_name"]],
      [{ content: "" }, ["article_content"]],
      [{ author: "Somebody" }, ["article_author"]],
      [{ likes: 9 }, ["article_likes"]],
      [{ clear_documents: true }, ["article_documents"]],
    ],
  },
  remove: { tool: "delete_article" },
  right: "_ASSESSMENT|_CHANNELS",
};

const CHALLENGE: Life = {
  noun: "challenge",
  place: () => ({ route: "/challenges" }),
  idKey: "challenge_id",
  argument: "challenge_id",
  member: "challenge",
  async all(stage, tenant) {
    const rows: Json[] = await ask(stage, tenant, "GET", "/challenges");
    // Flags are made anew at each change.
    return rows.map((row) => ({
      ...row,
      challenge_tags: sorted(row.challenge_tags),
      challenge_flags: row.challenge_flags.map((flag: Json) => `${flag.flag_type} ${flag.flag_value}`),
    }));
  },
  async make(stage, tenant, name) {
    const body = {
      challenge_name: name,
      challenge_category: "kept",
      challenge_content: "Kept",
      challenge_score: 10,
      challenge_max_attempts: 3,
      challenge_flags: [
        { flag_type: "VALUE", flag_value: "4444" },
        { flag_type: "REGEXP", flag_value: "4+" },
      ],
      challenge_tags: [labelOf(stage, tenant)],
      challenge_documents: [await DOCUMENT.make(stage, tenant, `hint ${name}`)],
    };
    return (await ask(stage, tenant, "POST", "/challenges", body)).challenge_id;
  },
  is(one, direct) {
    expect(one).toMatchObject({ id: direct.challenge_id, name: direct.challenge_name });
    expect(one.category).toBe(told(direct.challenge_category));
    expect(one.content).toBe(told(direct.challenge_content));
    expect(one.score).toBe(direct.challenge_score ?? undefined);
    expect(((one.flags ?? []) as Json[]).map(({ type, value }) => `${type.toUpperCase()} ${value}`)).toEqual(
      direct.challenge_flags,
    );
    expect(((one.labels ?? []) as string[]).length).toBe(direct.challenge_tags.length);
    expect(ids(one.documents)).toEqual(sorted(direct.challenge_documents));
  },
  read: { tool: "get_challenge" },
  create: {
    tool: "create_challenge",
    args: (stage, name, tenant) => ({
      name,
      flags: [{ type: "value_case", value: "Answer" }],
      category: "network",
      score: 20,
      labels: [labelOf(stage, tenant)],
    }),
  },
  update: {
    tool: "update_challenge",
    changes: () => [
      [{ category: "new" }, ["challenge_category"]],
      [{ content: "" }, ["challenge_content"]],
      [{ add_flags: [{ type: "value", value: "other" }], remove_flags: ["4444"] }, ["challenge_flags"]],
      [{ clear_labels: true }, ["challenge_tags"]],
      [{ clear_documents: true }, ["challenge_documents"]],
      [{ score: 5, max_attempts: 1 }, ["challenge_score", "challenge_max_attempts"]],
    ],
  },
  remove: { tool: "delete_challenge" },
  right: "_CHALLENGES",
  ignored: ["challenge_updated_at"],
};

const TEMPLATES = "/lessons_templates";
const TEMPLATE: Life = {
  noun: "lessons template",
  place: () => ({ route: TEMPLATES }),
  idKey: "lessonstemplate_id",
  argument: "lessons_template_id",
  member: "lessons_template",
  async all(stage, tenant) {
    const rows: Json[] = await ask(stage, tenant, "GET", TEMPLATES);
    return Promise.all(
      rows.map(async (row) => {
        const at = `${TEMPLATES}/${row.lessonstemplate_id}`;
        const categories: Json[] = await ask(stage, tenant, "GET", `${at}/lessons_template_categories`);
        const questions: Json[] = await ask(stage, tenant, "GET", `${at}/lessons_template_questions`);
        const inOrder = (key: string) => (a: Json, b: Json) => a[key] - b[key];
        const tree = categories.sort(inOrder("lessons_template_category_order")).map((category) => ({
          name: category.lessons_template_category_name,
          description: category.lessons_template_category_description || undefined,
          questions: questions
            .filter((one) => one.lessons_template_question_category === category.lessonstemplatecategory_id)
            .sort(inOrder("lessons_template_question_order"))
            .map((one) => one.lessons_template_question_content),
        }));
        return { ...row, tree: JSON.stringify(tree) };
      }),
    );
  },
  async make(stage, tenant, name) {
    const body = { lessons_template_name: name, lessons_template_description: "Kept" };
    const { lessonstemplate_id: id } = await ask(stage, tenant, "POST", TEMPLATES, body);
    const at = `${TEMPLATES}/${id}/lessons_template_categories`;
    const category = { lessons_template_category_name: "Seen", lessons_template_category_order: 1 };
    const { lessonstemplatecategory_id } = await ask(stage, tenant, "POST", at, category);
    for (const [order, content] of ["Who?", "When?"].entries()) {
      const question = { lessons_template_question_content: content, lessons_template_question_order: order + 1 };
      await ask(stage, tenant, "POST", `${at}/${lessonstemplatecategory_id}/lessons_template_questions`, question);
    }
    return id;
  },
  is(one, direct) {
    expect(one).toMatchObject({ id: direct.lessonstemplate_id, name: direct.lessons_template_name });
    expect(one.description).toBe(told(direct.lessons_template_description));
    const tree = ((one.categories ?? []) as Json[]).map(({ name, description, questions = [] }) => ({
      name,
      description,
      questions: questions.map((question: Json) => question.content),
    }));
    expect(JSON.stringify(tree)).toBe(direct.tree);
  },
  read: { tool: "get_lessons_template" },
  create: {
    tool: "create_lessons_template",
    args: (_, name) => ({
      name,
      description: "New",
      categories: [
        {
          name: "First",
          description: "About",
          questions: [{ content: "One?" }, { content: "Two?", explanation: "Why" }],
        },
        { name: "Second" },
      ],
    }),
  },
  update: {
    tool: "update_lessons_template",
    changes: () => [
      [{ name: "Renamed" }, ["lessons_template_name"]],
      [{ description: "" }, ["lessons_template_description"]],
      [{ categories: [{ name: "Only", questions: [{ content: "New?" }] }] }, ["tree"]],
      [{ clear_categories: true }, ["tree"]],
    ],
  },
  remove: { tool: "delete_lessons_template" },
  right: "_LESSONS_LEARNED",
  ignored: ["lessons_template_updated_at"],
};

const reportsOf = (stage: Stage, tenant: string): Place => {
  const id = runIn(stage, tenant);
  return { route: `/exercises/${id}/reports`, args: { simulation_id: id } };
};
const SECTIONS = ["main_information", "score_details", "inject_result", "global_observation", "player_surveys"].concat(
  "exercise_details",
);

const REPORT: Life = {
  noun: "report",
  place: reportsOf,
  idKey: "report_id",
  argument: "report_id",
  member: "report",
  async all(stage, tenant) {
    const rows: Json[] = await ask(stage, tenant, "GET", reportsOf(stage, tenant).route);
    return rows.map((row) => ({
      ...row,
      report_informations: row.report_informations
        .filter((one: Json) => one.report_informations_display)
        .map((one: Json) => one.report_informations_type.toLowerCase())
        .sort(),
    }));
  },
  async make(stage, tenant, name) {
    const shown = { report_informations_type: "SCORE_DETAILS", report_informations_display: true };
    const body = { report_name: name, report_global_observation: "Kept", report_informations: [shown] };
    return (await ask(stage, tenant, "POST", reportsOf(stage, tenant).route, body)).report_id;
  },
  is(one, direct) {
    expect(one).toMatchObject({ id: direct.report_id, name: direct.report_name });
    expect(one.observation).toBe(told(direct.report_global_observation));
    expect(sorted(one.sections)).toEqual(direct.report_informations);
  },
  read: { tool: "get_simulation_report" },
  create: {
    tool: "create_simulation_report",
    args: (_, name) => ({ name, observation: "New", sections: SECTIONS.slice(0, 2) }),
  },
  update: {
    tool: "update_simulation_report",
    changes: () => [
      [{ name: "Renamed" }, ["report_name"]],
      [{ observation: "" }, ["report_global_observation"]],
      [{ sections: SECTIONS }, ["report_informations"]],
      [{ clear_sections: true }, ["report_informations"]],
    ],
  },
  remove: { tool: "delete_simulation_report" },
  right: "_ASSESSMENT",
  // Whoever may read a simulation may write its reports.
  writers: ["administrator", "analyst", "outsider", "reader", "both"],
  ignored: ["report_updated_at"],
};

const listed = (tool: string, rows: string, life: Life, name: string): Truth<Stage> =>
  listTruth(tool, [
    {
      rows,
      idKey: life.idKey,
      direct: asSeen((stage, tenant) => life.place(stage, tenant).route),
      args: (stage, tenant) => life.place(stage, tenant).args ?? {},
      is: (row, direct) => expect(row.name).toBe(direct[name]),
      right: life.right,
    },
  ]);

/** Tools of documents, channels, articles, challenges, lessons and reports. */
export const contentTruths: readonly Truth<Stage>[] = [
  ...truthsOf(DOCUMENT),
  ...truthsOf(CHANNEL),
  ...truthsOf(ARTICLE),
  ...truthsOf(CHALLENGE),
  ...truthsOf(TEMPLATE),
  ...truthsOf(REPORT),
  listTruth("list_documents", [
    {
      rows: "documents",
      idKey: "document_id",
      direct: (stage, person) => seenBy(stage, person).below("/documents/search", "document_id"),
      key: (row) => lower(row.document_name),
      is: (row, direct) => expect(row).toMatchObject({ name: direct.document_name, mime_type: direct.document_type }),
      right: "ACCESS_DOCUMENTS",
    },
  ]),
  listed("list_channels", "channels", CHANNEL, "channel_name"),
  listed("list_articles", "articles", ARTICLE, "article_name"),
  listed("list_challenges", "challenges", CHALLENGE, "challenge_name"),
  listed("list_lessons_templates", "lessons_templates", TEMPLATE, "lessons_template_name"),
  listed("list_simulation_reports", "reports", REPORT, "report_name"),
  {
    tool: "read_document",
    cases: [
      {
        about: "gives the text that was uploaded, to whom the platform gives it",
        as: SEERS,
        async prove(stage, person) {
          const tenant = stage.world.tenantOf(person);
          const text = `Zürich ${person} ${"übt ".repeat(600)}${Math.random()}`;
          const writer = tenant === FIRST ? "administrator" : "outsider";
          const args = { ...inTenant(stage, writer), name: `text of ${person} ${stage.world.run}.txt`, content: text };
          const { document } = await personOf(stage, writer).get<Json>("upload_document", args);
          stage.world.removeLater(tenant, `/documents/${document.id}`);
          const asked = { ...inTenant(stage, person), document_id: document.id, page_bytes: 1024 };
          if ((await seenBy(stage, person).read(`/documents/${document.id}`)) === undefined) {
            await refuses(stage, person, "read_document", asked, /unknown tool|there is no|ACCESS_DOCUMENTS/);
            return;
          }
          let read = "";
          for (let page = 1, last = 1; page <= last; page++) {
            const part = await personOf(stage, person).get<Json>("read_document", { ...asked, page });
            read += part.text;
            last = part.page_count;
          }
          expect(read).toBe(text);
        },
      },
    ],
  },
  {
    tool: "apply_lessons_template",
    cases: [
      {
        about: "puts its questions to a scenario, and list_lessons tells them",
        as: WRITERS,
        async prove(stage, person) {
          const tenant = stage.world.tenantOf(person);
          const { scenario_id } = await ask(stage, tenant, "POST", "/scenarios", {
            scenario_name: `Lessons for ${person} ${stage.world.run}`,
          });
          stage.world.removeLater(tenant, `/scenarios/${scenario_id}`);
          const template = await TEMPLATE.make(stage, tenant, `Applied by ${person} ${stage.world.run}`);
          stage.world.removeLater(tenant, `${TEMPLATES}/${template}`);
          const of = { ...inTenant(stage, person), scenario_id };
          const args = { ...of, lessons_template_id: template };
          const said = await personOf(stage, person).get<Json>("apply_lessons_template", args);
          expect(said).toMatchObject({ questions_added: 2, categories: 1 });
          const questions: Json[] = await ask(stage, tenant, "GET", `/scenarios/${scenario_id}/lessons_questions`);
          const { lessons } = await personOf(stage, person).get<Json>("list_lessons", of);
          expect(lessons.map((one: Row) => one.id).sort()).toEqual(
            questions.map((one) => one.lessonsquestion_id).sort(),
          );
          expect(lessons.map((one: Row) => one.content)).toEqual(["Who?", "When?"]);
        },
      },
      {
        about: "is refused naming the right, and applies nothing",
        as: SEERS.filter((person) => !(WRITERS as readonly string[]).includes(person)),
        async prove(stage, person) {
          const tenant = stage.world.tenantOf(person);
          const template = await TEMPLATE.make(stage, tenant, `Not applied by ${person} ${stage.world.run}`);
          stage.world.removeLater(tenant, `${TEMPLATES}/${template}`);
          const scenario_id = scenarioIn(stage, tenant);
          const before = await ask(stage, tenant, "GET", `/scenarios/${scenario_id}/lessons_categories`);
          const args = { ...inTenant(stage, person), scenario_id, lessons_template_id: template };
          await refuses(stage, person, "apply_lessons_template", args, /unknown tool|there is no|_ASSESSMENT|_LESSONS/);
          expect(await ask(stage, tenant, "GET", `/scenarios/${scenario_id}/lessons_categories`)).toEqual(before);
        },
      },
    ],
  },
  {
    tool: "list_lessons",
    cases: [
      {
        about: "gives what the platform has, to whom the platform gives it",
        as: SEERS,
        async prove(stage, person) {
          const id = scenarioIn(stage, stage.world.tenantOf(person));
          const direct: Json[] | undefined = await seenBy(stage, person).read(`/scenarios/${id}/lessons_questions`);
          const args = { ...inTenant(stage, person), scenario_id: id };
          if (direct === undefined) {
            await refuses(stage, person, "list_lessons", args, /unknown tool|there is no|ACCESS_ASSESSMENT/);
            return;
          }
          const { lessons } = await personOf(stage, person).get<Json>("list_lessons", args);
          expect((lessons ?? []).flatMap((one: Row) => one.id ?? []).sort()).toEqual(
            direct.map((one) => one.lessonsquestion_id).sort(),
          );
        },
      },
    ],
  },
  {
    tool: "list_lessons_answers",
    cases: [
      {
        about: "gives what the platform has, to whom the platform gives it",
        as: SEERS,
        async prove(stage, person) {
          const id = runIn(stage, stage.world.tenantOf(person));
          const direct: Json[] | undefined = await seenBy(stage, person).read(`/exercises/${id}/lessons_answers`);
          const args = { ...inTenant(stage, person), simulation_id: id };
          if (direct === undefined) {
            await refuses(stage, person, "list_lessons_answers", args, /unknown tool|there is no|ACCESS_ASSESSMENT/);
            return;
          }
          const { answers } = await personOf(stage, person).get<Json>("list_lessons_answers", args);
          expect((answers ?? []).length).toBe(direct.length);
        },
      },
    ],
  },
];
