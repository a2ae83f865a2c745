import { expect } from "vitest";
import type { Truth } from "../../frame/table.js";
import type { Json } from "../platform.js";
import { inTenant, personOf, refuses, type Stage } from "../stage.js";
import { SEERS } from "./lists.js";
import { ask, WRITERS } from "./lives.js";

// Tools that choose who is asked about lessons, and ask.

const REFUSED = /unknown tool|there is no|_ASSESSMENT|_LESSONS|PLANNER|OBSERVER/;
const CANNOT = SEERS.filter((person) => !(WRITERS as readonly string[]).includes(person));

interface Planned {
  readonly tenant: string;
  readonly simulation: string;
  readonly categories: readonly string[];
  /** A team with one player, and one without. */
  readonly team: string;
  readonly empty: string;
}

/** A simulation with two categories of questions. */
async function plannedFor(stage: Stage, person: string): Promise<Planned> {
  const { world } = stage;
  const tenant = world.tenantOf(person);
  const name = `Asked by ${person} ${world.run}`;
  const { exercise_id: simulation } = await ask(stage, tenant, "POST", "/exercises", {
    exercise_name: name,
    exercise_tags: [],
  });
  world.removeLater(tenant, `/exercises/${simulation}`);
  const categories: string[] = [];
  for (const order of [1, 2]) {
    const at = `/exercises/${simulation}/lessons_categories`;
    const category = { lessons_category_name: `Part ${order}`, lessons_category_order: order };
    const { lessonscategory_id: id } = await ask(stage, tenant, "POST", at, category);
    const question = { lessons_question_content: `What of ${order}?`, lessons_question_order: 1 };
    await ask(stage, tenant, "POST", `${at}/${id}/lessons_questions`, question);
    categories.push(id);
  }
  const teams: string[] = [];
  for (const kind of ["full", "empty"]) {
    const body = { team_name: `${kind} team ${Math.random()} ${world.run}` };
    const { team_id: id } = await ask(stage, tenant, "POST", "/teams", body);
    world.removeLater(tenant, `/teams/${id}`);
    teams.push(id);
  }
  const player = { user_email: `p${Math.random()}@truth.test`, user_teams: [], user_tags: [] };
  const { user_id: id } = await ask(stage, tenant, "POST", "/players", player);
  world.removeLater(tenant, `/players/${id}`);
  await ask(stage, tenant, "PUT", `/teams/${teams[0]}/players`, { team_users: [id] });
  return { tenant, simulation, categories, team: teams[0]!, empty: teams[1]! };
}

/** The teams of each category, as the platform has them. */
async function teamsOf(stage: Stage, { tenant, simulation, categories }: Planned): Promise<string[][]> {
  const rows: Json[] = await ask(stage, tenant, "GET", `/exercises/${simulation}/lessons_categories`);
  return categories.map((id) => rows.find((row) => row.lessonscategory_id === id).lessons_category_teams ?? []);
}

/** Tools of questionnaires. */
export const questionnaireTruths: readonly Truth<Stage>[] = [
  {
    tool: "set_lessons_teams",
    cases: [
      {
        about: "sets the teams of all categories or of one, and takes them off",
        as: WRITERS,
        async prove(stage, person) {
          const plan = await plannedFor(stage, person);
          const of = { ...inTenant(stage, person), simulation_id: plan.simulation };
          const who = personOf(stage, person);
          const said = await who.get<Json>("set_lessons_teams", { ...of, team_ids: [plan.team] });
          expect(said.players).toBe(1);
          expect(said.categories.map((one: Json) => one.teams.map((team: Json) => team.id))).toEqual([
            [plan.team],
            [plan.team],
          ]);
          expect(await teamsOf(stage, plan)).toEqual([[plan.team], [plan.team]]);
          const cleared = { ...of, category_id: plan.categories[0], clear_teams: true };
          await who.get("set_lessons_teams", cleared);
          expect(await teamsOf(stage, plan)).toEqual([[], [plan.team]]);
          await refuses(stage, person, "set_lessons_teams", { ...of, team_ids: [plan.empty] }, /no players/);
          expect(await teamsOf(stage, plan)).toEqual([[], [plan.team]]);
        },
      },
      {
        about: "is refused naming the right, and changes nothing",
        as: CANNOT,
        async prove(stage, person) {
          const plan = await plannedFor(stage, person);
          const args = { ...inTenant(stage, person), simulation_id: plan.simulation, team_ids: [plan.team] };
          await refuses(stage, person, "set_lessons_teams", args, REFUSED);
          expect(await teamsOf(stage, plan)).toEqual([[], []]);
        },
      },
    ],
  },
  {
    tool: "launch_lessons_questionnaire",
    cases: [
      {
        about: "refuses where nobody would be asked, and counts whom it asks",
        as: WRITERS,
        async prove(stage, person) {
          const plan = await plannedFor(stage, person);
          const args = {
            ...inTenant(stage, person),
            simulation_id: plan.simulation,
            subject: `Questions ${stage.world.run}`,
            message: "<p>Please answer</p>",
          };
          await refuses(stage, person, "launch_lessons_questionnaire", args, /no category with questions has a team/);
          const team = { ...inTenant(stage, person), simulation_id: plan.simulation, team_ids: [plan.team] };
          await personOf(stage, person).get("set_lessons_teams", { ...team, category_id: plan.categories[1] });
          const said = await personOf(stage, person).get<Json>("launch_lessons_questionnaire", args);
          expect(said).toMatchObject({ players: 1, questions: 1, teams: [{ id: plan.team }] });
          expect(said.unsent.map((one: Json) => one.id)).toEqual([plan.categories[0]]);
          if (MAILS === undefined) return;
          const player = (await ask(stage, plan.tenant, "GET", `/teams/${plan.team}/players`))[0].user_email as string;
          await expect
            .poll(async () => await (await fetch(MAILS)).text(), { timeout: 60_000, interval: 1_000 })
            .toContain(player);
        },
      },
      {
        about: "is refused naming the right",
        as: CANNOT,
        async prove(stage, person) {
          // Nothing is missing but the right: who may read the questions is told first what they lack.
          const { tenant, simulation, categories, team } = await plannedFor(stage, person);
          const path = `/exercises/${simulation}/lessons_categories/${categories[0]}/teams`;
          await ask(stage, tenant, "PUT", path, { lessons_category_teams: [team] });
          const more = { simulation_id: simulation, subject: "Questions", message: "Please answer" };
          const args = { ...inTenant(stage, person), ...more };
          await refuses(stage, person, "launch_lessons_questionnaire", args, REFUSED);
        },
      },
    ],
  },
];

/** Where the mails are shown that the platform sent, if something shows them. */
const MAILS = process.env.AEV_REAL_MAILS;
