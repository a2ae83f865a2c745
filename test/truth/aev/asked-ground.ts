import { asPlayer, makeServer, need, report, type Server, silence, until, write } from "./asked-agents.js";
import type { Json } from "./platform.js";
import { found } from "./rows/lives.js";
import type { Stage } from "./stage.js";
import { FIRST } from "./world.js";

// What the ten jobs of asked.md are about: for each, something that its answer has, and
// something that looks alike and is no part of it.

const MAIL = "138ad8f8-32f8-4a22-8114-aaa12322bd09";
const MANUAL = "d02e9132-b9d0-4daa-b3b1-4b9871f8472c";
const CHALLENGE = "f8e70b27-a69c-4b9f-a2df-e217c36b3981";
const CHANNEL = "fb5e49a2-6366-4492-b69a-f9b9f39a533e";

const DAY_MS = 86_400_000;

/** The first of September that was last. */
export function september(): Date {
  const now = new Date();
  const at = new Date(Date.UTC(now.getUTCFullYear(), 8, 1));
  return at < now ? at : new Date(Date.UTC(now.getUTCFullYear() - 1, 8, 1));
}

/** The first of this month. */
export function thisMonth(): Date {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
}

/** What was made, by names. */
export interface Ground {
  readonly scenario: string;
  /** Runs of the scenario, oldest first. */
  readonly runs: readonly string[];
  readonly drill: string;
  readonly servers: Readonly<Record<string, Server>>;
}

const made = new WeakMap<Stage, Promise<Ground>>();

/** The ground of the jobs in a stage, made when it is first asked for. */
export function groundOf(stage: Stage): Promise<Ground> {
  const ground = made.get(stage) ?? makeGround(stage);
  made.set(stage, ground);
  return ground;
}

async function makeGround(stage: Stage): Promise<Ground> {
  const servers = await makeServers(stage);
  const people = await makePeople(stage);
  const payloads = await makePayloads(stage);
  const plan = await makePlan(stage, people, servers, payloads);
  const drill = await startDrill(stage, people);
  await makeOtherPlans(stage, servers, payloads[`Stop a service ${stage.world.run}`]!);
  await carryOut(stage, plan.runs, drill, servers);
  await record(stage, plan.runs, drill, people);
  await makeFindings(stage, plan.runs, servers);
  return { ...plan, drill, servers };
}

const later = (stage: Stage, ...routes: readonly string[]): void => {
  for (const route of routes) stage.world.removeLater(FIRST, route);
};

async function make(stage: Stage, route: string, body: object, id: string): Promise<string> {
  const { [id]: key } = await need(stage, "POST", route, body);
  later(stage, `${route}/${key}`);
  return key;
}

/** Five servers in Paris, of which one has no agent and one a silent one, one elsewhere, and their groups. */
async function makeServers(stage: Stage): Promise<Record<string, Server>> {
  const { run } = stage.world;
  const label = (name: string) => make(stage, "/tags", { tag_name: `${name}-${run}`, tag_color: "#123456" }, "tag_id");
  const production = await label("production");
  const staging = await label("production-like");
  const servers: Record<string, Server> = {};
  for (const [key, more] of Object.entries({
    "srv-paris-01": { labels: [production] },
    "srv-paris-02": { labels: [staging] },
    "srv-paris-03": { labels: [production], hasAgent: false },
    "srv-paris-04": {},
    "srv-paris-05": {},
    "srv-lyon-01": { labels: [production] },
  })) {
    servers[key] = await makeServer(stage, `${key}-${run}`, more);
    later(stage, `/endpoints/${servers[key].id}`);
  }
  silence([servers["srv-paris-04"]!], 20);
  const named = (text: string) => ({ key: "asset_name", operator: "contains", values: [text], mode: "or" });
  const group = async (name: string, filters: readonly object[], members: readonly string[]) => {
    const filter = { mode: "and", filters };
    const body = { asset_group_name: `${name} ${run}`, asset_group_dynamic_filter: filter };
    const id = await make(stage, "/asset_groups", body, "asset_group_id");
    const assets = members.map((key) => servers[key]!.id);
    await need(stage, "PUT", `/asset_groups/${id}/assets`, { asset_group_assets: assets });
    return id;
  };
  // One is listed, the others meet the conditions.
  const paris = [named("srv-paris-0"), named(run)];
  const all = await group("Servers Paris", paris, ["srv-paris-01"]);
  await group("Servers Paris archive", [], ["srv-lyon-01"]);
  const seine = await group("Servers Seine", [], ["srv-paris-05", "srv-lyon-01"]);
  return { ...servers, paris: { id: all, name: "" }, seine: { id: seine, name: "" } };
}

interface People {
  readonly blue: string;
  readonly press: string;
  /** Without players. */
  readonly green: string;
  readonly players: Readonly<Record<string, string>>;
}

/** A team whose third player takes no part, one of the press, and one without players. */
async function makePeople(stage: Stage): Promise<People> {
  const { run } = stage.world;
  const players: Record<string, string> = {};
  for (const name of ["ada", "ben", "cem", "dan"]) {
    const body = { user_email: `${name}-${run}@truth.test`, user_teams: [], user_tags: [] };
    players[name] = await make(stage, "/players", body, "user_id");
  }
  const team = async (name: string, members: readonly string[]) => {
    const id = await make(stage, "/teams", { team_name: `${name} ${run}` }, "team_id");
    await need(stage, "PUT", `/teams/${id}/players`, { team_users: members.map((one) => players[one]) });
    return id;
  };
  const blue = await team("Blue", ["ada", "ben", "cem"]);
  return { blue, press: await team("Press", ["dan"]), green: await team("Green", []), players };
}

/** Payloads of T1059 and of techniques that look alike, for Linux and for Windows; the ids of their actions. */
async function makePayloads(stage: Stage): Promise<Record<string, string>> {
  const { run } = stage.world;
  const known = await found(stage, FIRST, "/attack_patterns/search", "attack_pattern_id");
  const technique = async (external: string, parent?: string) => {
    const there = known.find((row) => row.attack_pattern_external_id === external);
    const body = {
      attack_pattern_name: `${external} as asked ${run}`,
      attack_pattern_external_id: external,
      attack_pattern_platforms: ["Linux"],
      attack_pattern_kill_chain_phases: [],
      ...(parent !== undefined && { attack_pattern_parent: parent }),
    };
    return there?.attack_pattern_id ?? (await make(stage, "/attack_patterns", body, "attack_pattern_id"));
  };
  const main = await technique("T1059");
  const sub = await technique(`T1059.${run}`, main);
  const alike = await technique(`T10590.${run}`);
  const other = await technique(`T1489.${run}`);
  for (const [name, pattern, platform] of [
    ["Run a script", sub, "Linux"],
    ["Open a shell", main, "Linux"],
    ["Read the shell history", sub, "Linux"],
    ["Run a macro", main, "Windows"],
    ["Plant a cron job", main, "Linux"],
    ["Count files", alike, "Linux"],
    ["Stop a service", other, "Linux"],
  ] as const) {
    const body = {
      payload_type: "Command",
      payload_name: `${name} ${run}`,
      payload_source: "MANUAL",
      payload_status: "VERIFIED",
      payload_platforms: [platform],
      payload_domains: [],
      payload_attack_patterns: [pattern],
      payload_expectations: ["PREVENTION", "DETECTION"],
      command_executor: platform === "Linux" ? "sh" : "psh",
      command_content: "id",
    };
    await make(stage, "/payloads", body, "payload_id");
  }
  const { content } = await need(stage, "POST", "/injector_contracts/search", { page: 0, size: 1_000 });
  return Object.fromEntries(
    content.map((one: Json) => [one.injector_contract_labels?.en, one.injector_contract_id as string]),
  );
}

const expectation = (type: string, name: string) => ({
  expectation_type: type,
  expectation_name: name,
  expectation_score: 100,
  expectation_expectation_group: false,
  expectation_expiration_time: 21_600,
});
const BY_PEOPLE = { expectations: [expectation("MANUAL", "Done")] };
const BY_MACHINES = { expectations: [expectation("PREVENTION", "Prevented"), expectation("DETECTION", "Detected")] };

async function step(stage: Stage, scenario: string, title: string, contract: string, more: object): Promise<string> {
  const { inject_id: id } = await need(stage, "POST", `/scenarios/${scenario}/injects`, {
    inject_title: title,
    inject_injector_contract: contract,
    inject_content: {},
    inject_depends_duration: 0,
    inject_teams: [],
    inject_assets: [],
    inject_asset_groups: [],
    inject_documents: [],
    inject_tags: [],
    inject_all_teams: false,
    inject_enabled: true,
    ...more,
  });
  return id;
}

async function launch(stage: Stage, scenario: string): Promise<string> {
  const { exercise_id: id } = await need(stage, "POST", `/scenarios/${scenario}/exercise/running`, {});
  later(stage, `/exercises/${id}`);
  return id;
}

/** Sets who takes part: all players of the teams but one. */
async function take(
  stage: Stage,
  scenario: string,
  teams: readonly string[],
  out: readonly [team: string, player: string],
) {
  await need(stage, "PUT", `/scenarios/${scenario}/teams/replace`, { scenario_teams: teams });
  const [team, player] = out;
  const disabled = { scenario_team_players: [player] };
  await need(stage, "PUT", `/scenarios/${scenario}/teams/${team}/players/disable`, disabled);
}

/** A plan that ran three times, changed between the runs and after the last. */
async function makePlan(
  stage: Stage,
  { blue, press, green, players }: People,
  servers: Readonly<Record<string, Server>>,
  actions: Readonly<Record<string, string>>,
): Promise<{ readonly scenario: string; readonly runs: readonly string[] }> {
  const { run } = stage.world;
  const action = (name: string) => actions[`${name} ${run}`]!;
  const at = (...keys: readonly string[]) => ({ inject_assets: keys.map((key) => servers[key]!.id) });
  const scenario = await make(stage, "/scenarios", { scenario_name: `Ransomware Q4 ${run}` }, "scenario_id");
  await make(stage, "/scenarios", { scenario_name: `Ransomware Q4 draft ${run}` }, "scenario_id");
  await take(stage, scenario, [blue, press, green], [blue, players.cem!]);
  const people = { inject_teams: [blue], inject_content: BY_PEOPLE };
  for (const title of ["Report the mail", "Lock the account", "Press the button"]) {
    await step(stage, scenario, title, MANUAL, people);
  }
  await step(stage, scenario, "Call the newspaper", MANUAL, { ...people, inject_teams: [press] });
  const machines = { inject_content: BY_MACHINES };
  const script = await step(stage, scenario, "Run a script", action("Run a script"), {
    ...machines,
    ...at("srv-paris-02"),
  });
  const stop = await step(stage, scenario, "Stop a service", action("Stop a service"), {
    ...machines,
    ...at("srv-paris-04"),
  });
  await lessons(stage, scenario);
  const runs = [await launch(stage, scenario)];

  await need(stage, "DELETE", `/scenarios/${scenario}/injects/${script}`);
  await step(stage, scenario, "Run a script", action("Run a script"), { ...machines, ...at("srv-paris-01") });
  const shell = await step(stage, scenario, "Open a shell", action("Open a shell"), {
    ...machines,
    ...at("srv-paris-01"),
  });
  await step(stage, scenario, "Plant a cron job", action("Plant a cron job"), { ...machines, ...at("srv-paris-03") });
  const old = await step(stage, scenario, "Old step", MANUAL, people);
  runs.push(await launch(stage, scenario));

  for (const id of [shell, stop, old]) await need(stage, "DELETE", `/scenarios/${scenario}/injects/${id}`);
  await step(stage, scenario, "Open a shell", action("Open a shell"), {
    ...machines,
    inject_asset_groups: [servers.seine!.id],
  });
  await step(stage, scenario, "Stop a service", action("Stop a service"), { ...machines, ...at("srv-paris-01") });
  await step(stage, scenario, "New step", MANUAL, people);
  runs.push(await launch(stage, scenario));

  await step(stage, scenario, "Warn everybody", MAIL, { inject_teams: [green], inject_depends_duration: 3_600 });
  await step(stage, scenario, "Wrap up", MANUAL, { ...people, inject_depends_duration: 14_400 });
  return { scenario, runs };
}

/** Two questions after the exercise. */
async function lessons(stage: Stage, scenario: string): Promise<void> {
  const at = `/scenarios/${scenario}/lessons_categories`;
  const category = { lessons_category_name: "Talk", lessons_category_description: "", lessons_category_order: 1 };
  const { lessonscategory_id: id } = await need(stage, "POST", at, category);
  for (const [i, text] of ["Did you know whom to call?", "Was the plan at hand?"].entries()) {
    const question = {
      lessons_question_content: text,
      lessons_question_explanation: "",
      lessons_question_order: i + 1,
    };
    await need(stage, "POST", `${at}/${id}/lessons_questions`, question);
  }
}

/** A drill in which one player takes no part, one gets no mail, and not all answer. */
async function startDrill(stage: Stage, { blue, press, green, players }: People): Promise<string> {
  const { run } = stage.world;
  const name = `Phishing drill Marketing ${run}`;
  const scenario = await make(stage, "/scenarios", { scenario_name: name }, "scenario_id");
  await make(stage, "/exercises", { exercise_name: `${name} rehearsal`, exercise_tags: [] }, "exercise_id");
  await take(stage, scenario, [blue, press, green], [blue, players.cem!]);
  const challenge = await make(
    stage,
    "/challenges",
    {
      challenge_name: `Which link? ${run}`,
      challenge_category: "mail",
      challenge_content: "Which link was false?",
      challenge_score: 10,
      challenge_max_attempts: 3,
      challenge_flags: [{ flag_type: "VALUE", flag_value: "second" }],
      challenge_tags: [],
      challenge_documents: [],
    },
    "challenge_id",
  );
  const article = {
    article_name: `Bank warns ${run}`,
    article_content: "Text",
    article_author: "Desk",
    article_channel: stage.world.ids.channel,
    article_documents: [],
  };
  const { article_id: id } = await need(stage, "POST", `/scenarios/${scenario}/articles`, article);
  const mail = { subject: "Your mailbox is full", body: "<p>Sign in.</p>", expectations: [] };
  await step(stage, scenario, "Lure", MAIL, { inject_teams: [blue], inject_content: mail });
  await step(stage, scenario, "Remind", MAIL, { inject_teams: [green], inject_content: mail });
  await step(stage, scenario, "Ask which link", CHALLENGE, {
    inject_teams: [blue, press],
    inject_content: {
      challenges: [challenge],
      subject: "A question",
      body: "<p>Answer</p>",
      expectations: [expectation("CHALLENGE", "Solved")],
    },
  });
  await step(stage, scenario, "Publish the warning", CHANNEL, {
    inject_teams: [blue, press],
    inject_content: {
      articles: [id],
      subject: "News",
      body: "<p>Read</p>",
      emailing: true,
      expectations: [expectation("ARTICLE", "Read")],
    },
  });
  return launch(stage, scenario);
}

const DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** Plans with a schedule: two that run in the next days, one that ended, and one that begins later. */
async function makeOtherPlans(stage: Stage, servers: Readonly<Record<string, Server>>, action: string): Promise<void> {
  const { run } = stage.world;
  const now = Date.now();
  const day = DAYS[new Date(now + 3 * DAY_MS).getUTCDay()];
  const agentless = { inject_assets: [servers["srv-paris-03"]!.id] };
  const silent = { inject_assets: [servers["srv-paris-04"]!.id] };
  const working = { inject_assets: [servers["srv-paris-01"]!.id] };
  const group = { inject_asset_groups: [servers.paris!.id] };
  for (const [name, from, to, steps] of [
    ["Weekly patrol", -30, undefined, [group]],
    ["Night watch", 0, 300, [silent, working, { ...agentless, inject_enabled: false }]],
    ["Summer patrol", -90, -10, [agentless]],
    ["Spring patrol", 60, undefined, [agentless]],
    ["Day watch", -30, undefined, [working]],
  ] as const) {
    const id = await make(stage, "/scenarios", { scenario_name: `${name} ${run}` }, "scenario_id");
    for (const more of steps) {
      await step(stage, id, "Look around", action, { ...more, inject_content: BY_MACHINES });
    }
    const at = (days: number | undefined) => (days === undefined ? null : new Date(now + days * DAY_MS).toISOString());
    await need(stage, "PUT", `/scenarios/${id}/recurrence`, {
      scenario_recurrence: `0 0 3 * * ${day}`,
      scenario_recurrence_start: at(from),
      scenario_recurrence_end: at(to),
    });
  }
}

const WAITING = ["DRAFT", "QUEUING", "EXECUTING", "PENDING"];

/** Reports what agents do, until every inject of the runs has ended. */
async function carryOut(
  stage: Stage,
  runs: readonly string[],
  drill: string,
  servers: Readonly<Record<string, Server>>,
): Promise<void> {
  const agents = new Map(Object.values(servers).map(({ id, agent }) => [id, agent]));
  const reported = new Set<string>();
  await until("the end of all injects", async () => {
    let isOver = true;
    for (const run of [...runs, drill]) {
      for (const row of await found(stage, FIRST, `/exercises/${run}/injects/search`, "inject_id")) {
        const status = row.inject_status?.status_name ?? "DRAFT";
        if (WAITING.includes(status)) isOver = false;
        if (status !== "PENDING" || reported.has(row.inject_id)) continue;
        reported.add(row.inject_id);
        const reached = await found(stage, FIRST, `/injects/${row.inject_id}/targets/ASSETS/search`, "target_id");
        for (const { target_id: id } of reached) {
          const agent = agents.get(id);
          if (agent !== undefined) await report(stage, row.inject_id, agent);
        }
      }
    }
    return isOver;
  });
}

/** What was not met, by run: everything else was. */
const MISSED: readonly (readonly (readonly [title: string, type?: string])[])[] = [
  [],
  [["Lock the account"], ["Open a shell"]],
  [["Report the mail"], ["Run a script", "DETECTION"], ["Open a shell"]],
];

/** Judges what was expected, answers for players, and dates the runs back. */
async function record(stage: Stage, runs: readonly string[], drill: string, { players }: People): Promise<void> {
  for (const [i, run] of runs.entries()) {
    const injects = await found(stage, FIRST, `/exercises/${run}/injects/search`, "inject_id");
    for (const one of await need(stage, "GET", `/exercises/${run}/expectations`)) {
      if (one.inject_expectation_user == null && one.inject_expectation_agent == null) continue;
      const title = injects.find((row) => row.inject_id === one.inject_expectation_inject)?.inject_title;
      const isMissed = MISSED[i]!.some(
        ([name, type]) => name === title && (type ?? one.inject_expectation_type) === one.inject_expectation_type,
      );
      await need(stage, "PUT", `/expectations/${one.inject_expectation_id}`, {
        source_id: "ui",
        source_type: "ui",
        source_name: "Planner",
        expectation_score: isMissed ? 0 : 100,
      });
    }
    await answer(stage, run, i, players);
  }
  const month = thisMonth().getTime();
  const dates = [
    new Date(Math.min(september().getTime() - 10 * DAY_MS, Date.now() - 70 * DAY_MS)),
    new Date((month + Date.now()) / 2),
    new Date(),
  ];
  for (const [i, run] of runs.entries()) {
    const at = `timestamptz '${dates[i]!.toISOString()}'`;
    write(
      `update exercises set exercise_status = 'FINISHED', exercise_start_date = ${at},
       exercise_end_date = ${at} + interval '1 minute' where exercise_id = '${run}'`,
      `update injects_statuses set tracking_sent_date = ${at}, tracking_end_date = ${at} + interval '1 minute'
       where status_inject in (select inject_id from injects where inject_exercise = '${run}')`,
    );
  }
  const [{ challenge_id: challenge }] = await need(stage, "GET", `/exercises/${drill}/challenges`);
  const solve = (name: string, value: string) =>
    asPlayer(stage, players[name]!, "POST", `/challenges/${drill}/${challenge}/validate`, { challenge_value: value });
  await solve("ada", "second");
  await solve("ben", "first");
  await asPlayer(stage, players.ben!, "GET", `/channels/${drill}/${stage.world.ids.channel}`);
}

/** What players answer after a run. */
async function answer(stage: Stage, run: string, i: number, players: People["players"]): Promise<void> {
  const questions: Json[] = await need(stage, "GET", `/exercises/${run}/lessons_questions`);
  questions.sort((a, b) => a.lessons_question_order - b.lessons_question_order);
  for (const [q, { lessonsquestion_id: id, lessons_question_category: category }] of questions.entries()) {
    for (const [p, name] of ["ada", "ben", "dan"].entries()) {
      const at = `/lessons/exercise/${run}/lessons_categories/${category}/lessons_questions/${id}/lessons_answers`;
      await asPlayer(stage, players[name]!, "POST", at, {
        lessons_answer_score: name === "dan" ? 5 : 90 - 40 * q - 10 * p - 5 * i,
        lessons_answer_positive: `Good ${name}`,
        lessons_answer_negative: "",
      });
    }
  }
}

/** What attacks found: things twice on an endpoint, once, too long ago, and of another kind. */
async function makeFindings(
  stage: Stage,
  runs: readonly string[],
  servers: Readonly<Record<string, Server>>,
): Promise<void> {
  const { run } = stage.world;
  for (const [at, title, type, value, server, days] of [
    [1, "Run a script", "credentials", "root:toor", "srv-paris-01", 20],
    [2, "Run a script", "credentials", "root:toor", "srv-paris-01 srv-lyon-01", 1],
    [1, "Open a shell", "port", "22", "srv-paris-01", 20],
    [2, "Open a shell", "port", "22", "srv-lyon-01", 1],
    [1, "Open a shell", "cve", `CVE-2026-${run}`, "srv-paris-02", 20],
    [2, "Open a shell", "cve", `CVE-2026-${run}`, "srv-paris-02", 1],
    [0, "Run a script", "credentials", "app:app", "srv-lyon-01", 80],
    [2, "Run a script", "credentials", "app:app", "srv-lyon-01", 1],
    [1, "Run a script", "ipv4", "10.1.1.1", "srv-lyon-01", 20],
    [2, "Run a script", "ipv4", "10.1.1.1", "srv-lyon-01", 1],
  ] as const) {
    const injects = await found(stage, FIRST, `/exercises/${runs[at]}/injects/search`, "inject_id");
    const { finding_id: id } = await need(stage, "POST", "/findings", {
      finding_field: "stdout",
      finding_type: type,
      finding_value: value,
      finding_labels: [],
      finding_inject_id: injects.find((row) => row.inject_title === title)?.inject_id,
    });
    const assets = server.split(" ").map((key) => `('${id}', '${servers[key]!.id}')`);
    write(
      `insert into findings_assets (finding_id, asset_id) values ${assets.join(", ")}`,
      `update findings set finding_created_at = now() - interval '${days} days' where finding_id = '${id}'`,
    );
  }
}
