import { allOf, type Question } from "../frame/questions.js";
import type { Transcript } from "../frame/transcript.js";
import { groundOf } from "./asked-ground.js";
import { plain, reachSeen, sorted } from "./asked-seen.js";
import type { Json } from "./platform.js";
import { found } from "./rows/lives.js";
import { type Stage, seenBy } from "./stage.js";
import { FIRST } from "./world.js";

// The jobs of asked.md about people and plans: 4 to 7 and 9.

const DAY_MS = 86_400_000;
const TEXT = "<p>Please acknowledge</p>";

/** The one with a name, and no other whose name begins alike. */
async function named(job: Transcript, tool: string, rows: string, name: string, query = name): Promise<Json> {
  const found = await allOf<Json>(job, tool, rows, { query });
  return found.find((one) => one.name === name);
}

/** Whether a weekly schedule starts something in the next thirty days. */
function startsSoon(cron: string, from: string | undefined, to: string | undefined): boolean {
  const [, minute, hour, , , day] = cron.split(" ");
  const days = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
  for (let ahead = 0; ahead <= 30; ahead++) {
    const at = new Date(Date.now() + ahead * DAY_MS);
    at.setUTCHours(Number(hour), Number(minute), 0, 0);
    const isIn = at.getTime() > Date.now() && at.getTime() < Date.now() + 30 * DAY_MS;
    const isMeant = days[at.getUTCDay()] === day;
    const isOpen = (from === undefined || at >= new Date(from)) && (to === undefined || at <= new Date(to));
    if (isIn && isMeant && isOpen) return true;
  }
  return false;
}

/** The hour in Paris, and the day. */
const inParis = (at: Date): string =>
  new Intl.DateTimeFormat("en-GB", { timeZone: "Europe/Paris", weekday: "short", hour: "2-digit" }).format(at);

/** Every Tuesday at the hour in UTC that is nine in Paris on the first of them, until the end of March. */
function tuesdays(): { readonly hour: number; readonly end: Date; readonly dates: readonly Date[] } {
  const now = new Date();
  const year = now.getUTCMonth() < 3 ? now.getUTCFullYear() : now.getUTCFullYear() + 1;
  const end = new Date(Date.UTC(year, 2, 31, 23, 59, 59));
  let first = new Date(Math.ceil(now.getTime() / 3_600_000) * 3_600_000);
  while (!/Tue.*09/.test(inParis(first))) first = new Date(first.getTime() + 3_600_000);
  const dates: Date[] = [];
  for (let at = first; at <= end; at = new Date(at.getTime() + 7 * DAY_MS)) dates.push(at);
  return { hour: first.getUTCHours(), end, dates };
}

/** Which of the dates is at another hour in Paris. */
const shifted = (dates: readonly Date[]): string[] =>
  dates.filter((at) => !/09/.test(inParis(at))).map((at) => at.toISOString());

const isSilent = (agents: readonly Json[], seenAt: string): boolean =>
  agents.every((one) => one[seenAt] === undefined || Date.parse(one[seenAt]) < Date.now() - 7 * DAY_MS);

/** What each inject of a scenario is aimed at. */
async function stepsOf(job: Transcript, scenario_id: string): Promise<Json[]> {
  const rows = await allOf<Json>(job, "list_injects", "injects", { scenario_id });
  const read: Json[] = [];
  for (const row of rows) {
    const { inject } = await job.get<Json>("get_inject", { inject_id: row.id });
    read.push({ ...inject, ready: row.ready, enabled: row.enabled });
  }
  return read;
}

/** The endpoints that injects reach, with a look at each group once. */
async function reachOf(job: Transcript, injects: readonly Json[], groups: Map<string, string[]>): Promise<Set<string>> {
  const ids = injects.flatMap(({ endpoints = [] }) => endpoints.map(({ id }: Json) => id));
  for (const { id } of injects.flatMap(({ asset_groups: all = [] }) => all)) {
    if (!groups.has(id)) {
      const members = await allOf<Json>(job, "get_asset_group", "endpoints", { asset_group_id: id });
      groups.set(
        id,
        members.map((one) => one.id),
      );
    }
    ids.push(...groups.get(id)!);
  }
  return new Set(ids);
}

/** The jobs about people and plans. */
export function planJobs(run: string): readonly Question<Stage>[] {
  return [
    {
      words: "4. Who takes part in the Phishing drill Marketing, who got no mail, who answered what, and who has not?",
      as: "analyst",
      async ask(job) {
        const name = `Phishing drill Marketing ${run}`;
        const { id: simulation_id } = await named(job, "list_simulations", "simulations", name);
        const { injects } = await job.get<Json>("list_injects", { simulation_id, with_targets: true, page_size: 25 });
        const teams = new Map<string, string>(
          injects
            .flatMap(({ targets = [] }: Json) => targets)
            .filter(({ kind }: Json) => kind === "team")
            .map(({ id, name: team }: Json) => [id, team]),
        );
        const mailed = new Set<string>();
        for (const { id: inject_id } of injects.filter(({ type }: Json) => type === "openaev_email")) {
          const args = { inject_id, target_kind: "player" };
          for (const player of await allOf<Json>(job, "list_inject_targets", "targets", args)) mailed.add(player.id);
        }
        const members: Record<string, string[]> = {};
        const emails = new Map<string, string>();
        for (const [team_id, team] of teams) {
          const players = await allOf<Json>(job, "list_players", "players", { team_id });
          for (const { id, email } of players) emails.set(id, email);
          members[plain(team, run)] = sorted(players.map(({ email }) => plain(email, run)));
        }
        const answers = await allOf<Json>(job, "list_expectations", "expectations", { simulation_id });
        const of = (type: string, isMet: boolean) =>
          answers
            .filter((one) => one.target_kind === "player" && one.type === type && (one.status === "success") === isMet)
            .map(({ target }) => plain(emails.get(target.id) ?? target.id, run));
        return {
          members,
          unmailed: sorted([...emails].filter(([id]) => !mailed.has(id)).map(([, email]) => plain(email, run))),
          challenges: [sorted(of("challenge", true)), sorted(of("challenge", false))],
          articles: [sorted(of("article", true)), sorted(of("article", false))],
        };
      },
      async answer(stage) {
        const { drill } = await groundOf(stage);
        const seen = seenBy(stage, "analyst");
        const teams: Json[] = await seen.read(`/exercises/${drill}/teams`);
        const players = new Map((await seen.of("player")).map((row) => [row.user_id, plain(row.user_email, run)]));
        const injects = (await seen.below(`/exercises/${drill}/injects/search`, "inject_id"))!;
        const { exercise_teams_users: part } = await seen.read(`/exercises/${drill}`);
        const addressed = injects
          .filter((one) => one.inject_type === "openaev_email")
          .flatMap((one) => one.inject_targets.map(({ target_id: id }: Json) => id));
        const mailed = new Set(
          part.filter((one: Json) => addressed.includes(one.team_id)).map((one: Json) => one.user_id),
        );
        const members = Object.fromEntries(
          teams.map((team) => [
            plain(team.team_name, run),
            sorted(team.team_users.map((id: string) => players.get(id) as string)),
          ]),
        );
        const all = new Set(teams.flatMap((team) => team.team_users as string[]));
        const expectations: Json[] = await seen.read(`/exercises/${drill}/expectations`);
        const of = (type: string, isMet: boolean) =>
          sorted(
            expectations
              .filter(
                (one) =>
                  one.inject_expectation_user != null &&
                  one.inject_expectation_type === type &&
                  (one.inject_expectation_score ?? -1) >= one.inject_expectation_expected_score === isMet,
              )
              .map((one) => players.get(one.inject_expectation_user)),
          );
        return {
          members,
          unmailed: sorted([...all].filter((id) => !mailed.has(id)).map((id) => players.get(id))),
          challenges: [of("CHALLENGE", true), of("CHALLENGE", false)],
          articles: [of("ARTICLE", true), of("ARTICLE", false)],
        };
      },
    },
    {
      words:
        "5. Which endpoints have no agent or a silent one, and in which scenarios of the next 30 days are they targets?",
      as: "reader",
      async ask(job) {
        const endpoints = await allOf<Json>(job, "list_endpoints", "endpoints", {});
        const silent = endpoints.filter(({ agents = [] }) => isSilent(agents, "last_seen_at"));
        const scenarios = await allOf<Json>(job, "list_scenarios", "scenarios", {});
        const groups = new Map<string, string[]>();
        const planned: Record<string, string[]> = {};
        for (const { id, name, recurrence } of scenarios) {
          if (recurrence === undefined) continue;
          const { scenario } = await job.get<Json>("get_scenario", { scenario_id: id });
          const { recurrence_start_at: from, recurrence_end_at: to } = scenario;
          if (!startsSoon(recurrence, from, to)) continue;
          const steps = (await stepsOf(job, id)).filter(({ enabled }) => enabled);
          const reached = await reachOf(job, steps, groups);
          const hit = silent.filter((one) => reached.has(one.id)).map((one) => one.name);
          if (hit.length > 0) planned[name] = sorted(hit);
        }
        return { silent: sorted(silent.map(({ id }) => id)), planned };
      },
      async answer(stage) {
        await groundOf(stage);
        const seen = seenBy(stage, "reader");
        const reach = await reachSeen(seen);
        const silent = (await seen.of("endpoint")).filter(({ asset_agents: agents }) =>
          isSilent(agents, "agent_last_seen"),
        );
        const planned: Record<string, string[]> = {};
        for (const { scenario_id: id, scenario_name: name } of await seen.of("scenario")) {
          const row = await seen.read(`/scenarios/${id}`);
          const [from, to] = [row.scenario_recurrence_start ?? undefined, row.scenario_recurrence_end ?? undefined];
          if (row.scenario_recurrence == null || !startsSoon(row.scenario_recurrence, from, to)) continue;
          const steps = (await seen.below(`/scenarios/${id}/injects/simple`, "inject_id"))!;
          const reached = new Set(steps.filter((one) => one.inject_enabled).flatMap((one) => [...reach(one)]));
          const hit = silent.filter((one) => reached.has(one.asset_id)).map((one) => one.asset_name);
          if (hit.length > 0) planned[name] = sorted(hit);
        }
        return { silent: sorted(silent.map((row) => row.asset_id)), planned };
      },
    },
    {
      words:
        "6. Schedule Ransomware Q4 each Tuesday at nine in Paris until the end of March; say what would not be ready.",
      as: "analyst",
      async ask(job) {
        const { id: scenario_id } = await named(job, "list_scenarios", "scenarios", `Ransomware Q4 ${run}`);
        const { problems = [] } = await job.get<Json>("check_scenario_health", { scenario_id });
        const steps = (await stepsOf(job, scenario_id)).filter(({ enabled }) => enabled);
        const teams = await allOf<Json>(job, "list_teams", "teams", { query: run });
        const used = new Set(steps.flatMap(({ teams: all = [] }) => all.map(({ id }: Json) => id)));
        const reached = await reachOf(job, steps, new Map());
        const endpoints = await allOf<Json>(job, "list_endpoints", "endpoints", { query: run });
        const { hour, end, dates } = tuesdays();
        const said = await job.get<Json>("schedule_scenario", {
          scenario_id,
          recurrence: `0 0 ${hour} * * TUE`,
          end_at: end.toISOString(),
        });
        const isOff = ({ agents = [] }: Json) => agents.every(({ active }: Json) => !active);
        return {
          problems: sorted(problems.map(({ subject, problem }: Json) => `${subject} ${problem}`)),
          unready: sorted(steps.filter(({ ready }) => !ready).map(({ title }) => title)),
          empty: sorted(teams.filter(({ id, players = 0 }) => used.has(id) && players === 0).map(({ name }) => name)),
          off: sorted(endpoints.filter((one) => reached.has(one.id) && isOff(one)).map(({ name }) => name)),
          schedule: [said.scenario.recurrence, Date.parse(said.end_at)],
          dates: dates.slice(0, 3).map((at) => at.toISOString()),
          shifted: shifted(dates),
        };
      },
      async answer(stage) {
        const { scenario } = await groundOf(stage);
        const seen = seenBy(stage, "analyst");
        const health: Json[] = await seen.read(`/scenarios/${scenario}/healthchecks`);
        const steps = (await seen.below(`/scenarios/${scenario}/injects/simple`, "inject_id"))!.filter(
          (one) => one.inject_enabled,
        );
        const reach = await reachSeen(seen);
        const reached = new Set(steps.flatMap((one) => [...reach(one)]));
        const used = new Set(steps.flatMap((one) => one.inject_teams as string[]));
        const teams = (await seen.of("team")).filter((row) => used.has(row.team_id) && row.team_users_number === 0);
        const off = (await seen.of("endpoint")).filter(
          (row) => reached.has(row.asset_id) && row.asset_agents.every((one: Json) => !one.agent_active),
        );
        const { hour, end, dates } = tuesdays();
        return {
          problems: sorted(health.map(({ type, detail }) => `${type} ${detail}`.toLowerCase())),
          unready: sorted(steps.filter((one) => !one.inject_ready).map((one) => one.inject_title)),
          empty: sorted(teams.map((row) => row.team_name)),
          off: sorted(off.map((row) => row.asset_name)),
          schedule: [`0 0 ${hour} * * TUE`, end.getTime()],
          dates: dates.slice(0, 3).map((at) => at.toISOString()),
          shifted: shifted(dates),
        };
      },
    },
    {
      words: "7. What did team Blue answer after the last two exercises, by question; which question is the worst?",
      as: "reader",
      async ask(job) {
        const { id: scenario_id } = await named(job, "list_scenarios", "scenarios", `Ransomware Q4 ${run}`);
        const { id: team_id } = await named(job, "list_teams", "teams", `Blue ${run}`);
        const players = await allOf<Json>(job, "list_players", "players", { team_id });
        const blue = new Set(players.map(({ id }) => id));
        const runs = { scenario_id, statuses: ["finished"], order_by: "started", page_size: 2 };
        const { simulations } = await job.get<Json>("list_simulations", runs);
        const scores = new Map<string, number[]>();
        for (const { id: simulation_id } of simulations) {
          const lessons = await allOf<Json>(job, "list_lessons", "lessons", { simulation_id });
          const questions = new Map(lessons.map(({ id, content }) => [id, content]));
          for (const { question, player, score = 0 } of await allOf<Json>(job, "list_lessons_answers", "answers", {
            simulation_id,
          })) {
            if (!blue.has(player?.id)) continue;
            const text = questions.get(question.id);
            scores.set(text, [...(scores.get(text) ?? []), score]);
          }
        }
        return averages(scores);
      },
      async answer(stage) {
        const { scenario } = await groundOf(stage);
        const seen = seenBy(stage, "reader");
        const team = (await seen.of("team")).find((row) => row.team_name === `Blue ${run}`)!;
        const blue = await stage.platform.need(seen.email, "GET", seen.at(`/teams/${team.team_id}/players`));
        const ids = new Set(blue.map((row: Json) => row.user_id));
        const rows = await seen.of("simulation");
        const read = await Promise.all(rows.map((row) => seen.read(`/exercises/${row.exercise_id}`)));
        const own = read
          .filter((row) => row.exercise_scenario === scenario && row.exercise_status === "FINISHED")
          .sort((a, b) => (a.exercise_start_date < b.exercise_start_date ? 1 : -1));
        const scores = new Map<string, number[]>();
        for (const { exercise_id: id } of own.slice(0, 2)) {
          const questions: Json[] = await seen.read(`/exercises/${id}/lessons_questions`);
          const texts = new Map(questions.map((row) => [row.lessonsquestion_id, row.lessons_question_content]));
          for (const one of await seen.read(`/exercises/${id}/lessons_answers`)) {
            if (!ids.has(one.lessons_answer_user)) continue;
            const text = texts.get(one.lessons_answer_question);
            scores.set(text, [...(scores.get(text) ?? []), one.lessons_answer_score]);
          }
        }
        return averages(scores);
      },
    },
    {
      words:
        "9. Copy Ransomware Q4 to Q1 without the injects of Press, add a mail to Blue after two hours; show the timeline.",
      as: "analyst",
      async ask(job) {
        const { id: source } = await named(job, "list_scenarios", "scenarios", `Ransomware Q4 ${run}`);
        const { id: press } = await named(job, "list_teams", "teams", `Press ${run}`);
        const { id: blue } = await named(job, "list_teams", "teams", `Blue ${run}`);
        const { scenario } = await job.get<Json>("duplicate_scenario", { scenario_id: source });
        const of = { scenario_id: scenario.id };
        await job.get("update_scenario", { ...of, name: `Ransomware Q1 ${run}` });
        for (const { id, teams = [] } of await stepsOf(job, scenario.id)) {
          if (teams.some((team: Json) => team.id === press)) await job.get("delete_inject", { inject_id: id });
        }
        const { injector_contracts: actions } = await job.get<Json>("list_injector_contracts", {
          query: "individual mails",
        });
        await job.get("get_injector_contract", { injector_contract_id: actions[0].id });
        const { lacks = [] } = await job.get<Json>("create_inject", {
          ...of,
          title: "Please acknowledge",
          injector_contract_id: actions[0].id,
          delay_seconds: 7_200,
          team_ids: [blue],
          content: {
            subject: "Please acknowledge",
            body: TEXT,
            expectations: [
              {
                expectation_type: "MANUAL",
                expectation_name: "Acknowledged",
                expectation_score: 50,
                expectation_expiration_time: 1_800,
                expectation_expectation_group: false,
              },
            ],
          },
        });
        const timeline = await allOf<Json>(job, "list_injects", "injects", of);
        const read = await job.get<Json>("get_scenario", of);
        return {
          lacks,
          timeline: sorted(timeline.map(({ title, delay_seconds: delay = 0 }) => `${delay} ${title}`)),
          players: read.scenario.players,
        };
      },
      async answer(stage) {
        const { scenario } = await groundOf(stage);
        const seen = seenBy(stage, "analyst");
        const press = (await seen.of("team")).find((row) => row.team_name === `Press ${run}`)!.team_id;
        const steps = (await seen.below(`/scenarios/${scenario}/injects/simple`, "inject_id"))!;
        const kept = steps.filter((one) => !one.inject_teams.includes(press));
        const lines = kept.map((one) => `${one.inject_depends_duration} ${one.inject_title}`);
        const { scenario_users_number: players } = await seen.read(`/scenarios/${scenario}`);
        return { lacks: [], timeline: sorted([...lines, "7200 Please acknowledge"]), players };
      },
    },
  ];
}

/** The mean score of each question, and the worst question. */
function averages(scores: ReadonlyMap<string, readonly number[]>) {
  const means = [...scores].map(([text, all]) => [text, all.reduce((sum, one) => sum + one, 0) / all.length] as const);
  means.sort((a, b) => a[1] - b[1]);
  return { means: Object.fromEntries(means), worst: means[0]?.[0], answers: [...scores.values()].flat().length };
}

/** The copy at the platform: its mail with the expectation; undefined before there is one. */
export async function copyOf(stage: Stage): Promise<Json | undefined> {
  const seen = seenBy(stage, "administrator", FIRST);
  const copy = (await seen.of("scenario")).find((row) => row.scenario_name === `Ransomware Q1 ${stage.world.run}`);
  if (copy === undefined) return undefined;
  const steps = await found(stage, FIRST, `/scenarios/${copy.scenario_id}/injects/simple`, "inject_id");
  const mail = steps.find((one) => one.inject_title === "Please acknowledge");
  return { id: copy.scenario_id, mail: await seen.read(`/injects/${mail!.inject_id}`) };
}
