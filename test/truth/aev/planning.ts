import { expect } from "vitest";
import type { Person } from "../frame/product.js";
import { Transcript } from "../frame/transcript.js";
import type { Json } from "./platform.js";

// Eight jobs of a planner, each in the planner's words, done with the tools
// alone. The words were written before anybody had read the tools.

/** What the jobs are about, by the names that a planner knows. */
export interface Plans {
  /** A part of the names of what the planner looks after. */
  readonly run: string;
  readonly scenario: string;
  readonly team: string;
  readonly template: string;
}

/** What a job came to. */
export interface Answer {
  readonly answer: Json;
  readonly job: Transcript;
}

/** Every page of a list. */
async function every(job: Transcript, tool: string, rows: string, args: object): Promise<Json[]> {
  const all: Json[] = [];
  let page_token = "";
  do {
    const page = await job.get<Json>(tool, { ...args, page_size: 100, page_token });
    all.push(...(page[rows] ?? []));
    page_token = page.next_page_token ?? "";
  } while (page_token !== "");
  return all;
}

const DAY_MS = 86_400_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();
const ids = (rows: readonly Json[]): string[] => rows.map(({ id }) => id).toSorted();
type Job = (job: Transcript, plans: Plans) => Promise<Json>;

const JOBS: readonly (readonly [words: string, job: Job])[] = [
  [
    "The board asks which of our machines we attacked in the last thirty days, and which of them nobody has touched.",
    async (job) => {
      const rows = await every(job, "inspect_coverage", "coverage", { kind: "endpoint", tested_after: daysAgo(30) });
      return {
        attacked: ids(rows.filter(({ tests }) => tests > 0)),
        untouched: ids(rows.filter(({ tests }) => tests === 0)),
      };
    },
  ],
  [
    "Which techniques did we exercise this quarter, how did prevention and detection do in each, and which did we never play?",
    async (job) => {
      const rows = await every(job, "inspect_coverage", "coverage", {
        kind: "attack_pattern",
        tested_after: daysAgo(91),
      });
      const played = rows.filter(({ tests }) => tests > 0);
      return {
        played: Object.fromEntries(played.map((row) => [row.id, [row.tests, row.prevented, row.detected]])),
        never: ids(rows.filter(({ tests }) => tests === 0)),
      };
    },
  ],
  [
    "We have bought a new EDR. The scenario ran before and after. What is better now, what is worse, and on what step?",
    async (job, { scenario }) => {
      const { scenarios } = await job.get<Json>("list_scenarios", { query: scenario });
      const runs = await job.get<Json>("list_simulations", {
        scenario_id: scenarios[0].id,
        statuses: ["finished"],
        order_by: "started",
      });
      const [after, before] = runs.simulations;
      const args = { simulation_id: before.id, other_simulation_id: after.id };
      const steps = await every(job, "inspect_simulation_comparison", "injects", args);
      const of = (change: string) =>
        steps
          .filter((step) => step.change === change)
          .map(({ title }) => title)
          .toSorted();
      return { better: of("better"), worse: of("worse") };
    },
  ],
  [
    "Give me the worst five vulnerabilities that our runs found, by their score, with the machines that they were found on.",
    async (job) => {
      const { findings = [] } = await job.get<Json>("list_findings", { order_by: "score", page_size: 5 });
      return findings.map((row: Json) => [row.score ?? null, ids(row.endpoints ?? [])]);
    },
  ],
  [
    "Which single tests has the team run this week, newest first, and which of them failed?",
    async (job) => {
      const args = { ran_after: daysAgo(7), order_by: "ran" };
      const rows = await every(job, "list_atomic_tests", "atomic_tests", args);
      return { ran: rows.map(({ id }) => id), failed: ids(rows.filter(({ status }) => status === "error")) };
    },
  ],
  [
    "After the exercise I want the team that took part to answer questions on how it communicated. Prepare it, send it, and tell me how many get it.",
    async (job, { scenario, team, template }) => {
      const { simulations } = await job.get<Json>("list_simulations", { query: scenario, statuses: ["finished"] });
      const of = { simulation_id: simulations[0].id };
      const { teams } = await job.get<Json>("list_teams", { query: team });
      const { lessons_templates: templates } = await job.get<Json>("list_lessons_templates", { query: template });
      const added = await job.get<Json>("apply_lessons_template", { ...of, lessons_template_id: templates[0].id });
      await job.get<Json>("set_lessons_teams", { ...of, team_ids: [teams[0].id] });
      const sent = await job.get<Json>("launch_lessons_questionnaire", {
        ...of,
        subject: `How did we talk? ${scenario}`,
        message: "<p>Please answer a few questions.</p>",
      });
      return { simulation: of.simulation_id, added: added.questions_added, players: sent.players };
    },
  ],
  [
    "Which of our groups of machines has had no test in the last thirty days? I want to plan one for it.",
    async (job) => {
      const args = { kind: "asset_group", tested_after: daysAgo(30), state: "untested" };
      return ids(await every(job, "inspect_coverage", "coverage", args));
    },
  ],
  [
    "That scenario has run several times, and once we broke it off. How is it developing from run to run, and which run does not count?",
    async (job, { scenario }) => {
      const { scenarios } = await job.get<Json>("list_scenarios", { query: scenario });
      const { scores = [], left_out = 0 } = await job.get<Json>("get_scenario_statistics", {
        scenario_id: scenarios[0].id,
      });
      const told = (canceled: boolean) =>
        scores
          .filter((row: Json) => (row.canceled ?? false) === canceled)
          .map((row: Json) => [row.simulation.id, row.kind, row.success_percent]);
      return { finished: told(false), broken_off: told(true), left_out };
    },
  ],
];

/** How many jobs there are. */
export const COUNT = JOBS.length;

/** Does one of the jobs. @throws Error where a tool refuses. */
export async function plan(person: Person, at: number, plans: Plans): Promise<Answer> {
  const [words, run] = JOBS[at] as (typeof JOBS)[number];
  const job = new Transcript(words, person);
  const answer = await run(job, plans);
  expect(job.count).toBeLessThan(12);
  return { answer, job };
}
