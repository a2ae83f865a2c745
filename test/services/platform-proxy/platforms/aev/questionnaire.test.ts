import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LessonsService } from "#proto/aev/v1/lessons_service_pb.js";
import { QuestionnaireService } from "#proto/aev/v1/questionnaire_service_pb.js";
import { DEFAULT_TENANT as FIRST } from "../../../../../services/sandbox/aev/world.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { Desk, type Json } from "./content.js";

const { setLessonsTeams, launchLessonsQuestionnaire } = QuestionnaireService.method;
const { listLessons, applyLessonsTemplate } = LessonsService.method;
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
// biome-ignore lint/suspicious/noTemplateCurlyInString: the platform's own notation.
const LINK = "${lessons_uri}";
let stack: AevHarness;
let planner: Desk;
let simulation = "";
let teams: Json[] = [];

beforeAll(async () => {
  stack = await startAev();
  planner = new Desk(stack, "planner", FIRST);
  simulation = (await planner.ask("POST", "/exercises", { exercise_name: "Run" })).exercise_id;
  teams = await planner.rows("/teams/search");
});
afterAll(() => stack.close());

const parent = () => ({ parent: { case: "simulationId" as const, value: simulation } });
const mail = { subject: "How did it go?", message: "<p>Please answer.</p>" };
const send = (more: object = {}) =>
  planner.call(launchLessonsQuestionnaire, { simulationId: simulation, ...mail, ...more });
const categories = () => planner.ask("GET", `/exercises/${simulation}/lessons_categories`);

test("what a questionnaire lacks is said before anything is set or sent", async () => {
  const team = teams.find(({ team_users_number: players }) => players > 0).team_id;
  const bare = await refusal(planner.call(setLessonsTeams, { ...parent(), teamIds: [team] }));
  expect([bare.code, bare.rawMessage]).toEqual([
    Code.FailedPrecondition,
    expect.stringMatching(/has no questions.*apply_lessons_template.*nothing was changed/),
  ]);
  expect((await refusal(send())).rawMessage).toMatch(/no questions.*nothing was sent/);

  const [template] = await planner.ask("GET", "/lessons_templates");
  await planner.call(applyLessonsTemplate, { ...parent(), lessonsTemplateId: template.lessonstemplate_id });
  expect((await refusal(send())).rawMessage).toMatch(/no category with questions has a team.*nothing was sent/);
  const before = await categories();
  for (const [args, words] of [
    [{ teamIds: [team, UNKNOWN] }, /team_ids: there is no 0{8}/],
    [{ teamIds: [team], categoryId: UNKNOWN }, /category_id: .*no category 0{8}.*nothing was changed/],
    [{}, /give team_ids or clear_teams/],
    [{ teamIds: [team], clearTeams: true }, /give team_ids or clear_teams/],
  ] as const) {
    const said = await refusal(planner.call(setLessonsTeams, { ...parent(), ...args } as never));
    expect(said.rawMessage).toMatch(words);
  }
  const { team_id: empty } = await planner.ask("POST", "/teams", { team_name: "Nobody yet" }).catch(() => ({}) as Json);
  if (empty !== undefined) {
    const said = await refusal(planner.call(setLessonsTeams, { ...parent(), teamIds: [empty] }));
    expect(said.rawMessage).toMatch(/Nobody yet has no players.*nothing was changed/);
  }
  expect(await categories()).toEqual(before);
  expect(stack.sandbox.mails).toEqual([]);
});

test("teams are set for all categories or for some, and every player of theirs gets one mail with the link", async () => {
  const [one, other] = teams.filter(({ team_users_number: players }) => players > 0);
  const set = await planner.call(setLessonsTeams, { ...parent(), teamIds: [one.team_id] });
  expect(set.players).toBe(one.team_users_number);
  expect(set.categories.every((row) => row.teams.length === 1 && row.teams[0]?.name === one.team_name)).toBe(true);
  const { lessons } = await planner.call(listLessons, parent());
  expect(lessons.every((row) => row.teams === 1)).toBe(true);

  const [first] = set.categories;
  const both = { ...parent(), teamIds: [one.team_id, other.team_id], categoryId: first!.id };
  const more = await planner.call(setLessonsTeams, both);
  expect(more.categories.find(({ id }) => id === first!.id)?.teams).toHaveLength(2);
  const players = new Set(
    [...(await planner.ask("GET", `/exercises/${simulation}/lessons_categories`))].flatMap(
      (row: Json) => row.lessons_category_users,
    ),
  );
  expect(more.players).toBe(players.size);

  const sent = await send();
  const questions = more.categories.reduce((sum, row) => sum + row.questions, 0);
  expect(sent).toMatchObject({ players: players.size, questions, unsent: [] });
  expect(stack.sandbox.mails.map(({ user }) => user).sort()).toEqual([...players].sort());
  expect(stack.sandbox.mails[0]).toMatchObject({ subject: mail.subject, body: expect.stringContaining(LINK) });
  const own = `<a href="${LINK}">Here</a>`;
  await send({ message: own });
  expect(stack.sandbox.mails.at(-1)?.body).toBe(own);

  const cleared = await planner.call(setLessonsTeams, { ...parent(), clearTeams: true });
  expect([cleared.players, cleared.categories.flatMap((row) => row.teams)]).toEqual([0, []]);
  const count = stack.sandbox.mails.length;
  expect((await refusal(send())).code).toBe(Code.FailedPrecondition);
  expect(stack.sandbox.mails).toHaveLength(count);
});

test("who may only read a simulation sends nothing", async () => {
  const reader = new Desk(stack, "reader", FIRST);
  const count = stack.sandbox.mails.length;
  const said = await refusal(reader.call(launchLessonsQuestionnaire, { simulationId: simulation, ...mail }));
  expect([Code.PermissionDenied, Code.FailedPrecondition]).toContain(said.code);
  expect(stack.sandbox.mails).toHaveLength(count);
});
