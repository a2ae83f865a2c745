import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { realPlatform, truth } from "../frame/real.js";
import { COUNT, type Plans, plan } from "./planning.js";
import type { Json } from "./platform.js";
import { ask, found } from "./rows/lives.js";
import { type Stage, seenBy, startStage, stopStage } from "./stage.js";
import { FIRST } from "./world.js";

// The jobs of planning.ts on the real platform, each answer compared with one
// computed from all rows that the platform shows that person.

const { settings, missing } = realPlatform("AEV_REAL_URL", "AEV_REAL_ISSUER");
const MANUAL = "d02e9132-b9d0-4daa-b3b1-4b9871f8472c";
const EXPECTED = {
  expectation_type: "MANUAL",
  expectation_name: "Reported",
  expectation_score: 100,
  expectation_expectation_group: false,
  expectation_expiration_time: 3600,
};

/** Two runs that turned out differently, one that was broken off, attacks on machines, CVEs, and questions. */
async function prepare(stage: Stage): Promise<Plans> {
  const { ids, run } = stage.world;
  const need = (method: string, route: string, body?: object) => ask(stage, FIRST, method, route, body);
  const scenario = `Before and after ${run}`;
  const { scenario_id: id } = await need("POST", "/scenarios", { scenario_name: scenario });
  stage.world.removeLater(FIRST, `/scenarios/${id}`);
  await need("PUT", `/scenarios/${id}/teams/replace`, { scenario_teams: [ids.team] });
  await need("PUT", `/scenarios/${id}/teams/${ids.team}/players/enable`, { scenario_team_players: [ids.player] });
  const step = (title: string, contract: string, more: object) =>
    need("POST", `/scenarios/${id}/injects`, {
      inject_title: title,
      inject_injector_contract: contract,
      inject_content: { expectations: [EXPECTED] },
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
  for (const title of ["Report the mail", "Lock the account"]) await step(title, MANUAL, { inject_teams: [ids.team] });
  const contracts = await need("POST", "/injector_contracts/search", { size: 1000, include_full_details: true });
  const attack = contracts.content.find((one: Json) => one.injector_contract_labels?.en === `Same payload ${run}`);
  await step("Attack", attack.injector_contract_id, {
    inject_content: { expectations: [] },
    inject_assets: [ids.machine1],
  });
  const runs: string[] = [];
  for (let i = 0; i < 3; i++) {
    runs.push((await need("POST", `/scenarios/${id}/exercise/running`, {})).exercise_id);
    stage.world.removeLater(FIRST, `/exercises/${runs[i]}`);
  }
  const expectations = async (one = "") => (await need("GET", `/exercises/${one}/expectations`)) as Json[];
  for (let looks = 0; looks < 60; looks++) {
    const all = await Promise.all(runs.map(expectations));
    if (all.every((rows) => rows.length >= 2)) break;
    await sleep(3_000);
  }
  const source = { source_id: "ui", source_type: "ui", source_name: "Planner" };
  for (const [at, good] of [
    [0, "Lock the account"],
    [1, "Report the mail"],
    [2, "Report the mail"],
  ] as const) {
    const injects = await found(stage, FIRST, `/exercises/${runs[at]}/injects/search`, "inject_id");
    for (const one of await expectations(runs[at])) {
      const title = injects.find((inject) => inject.inject_id === one.inject_expectation_inject)?.inject_title;
      const body = { ...source, expectation_score: title === good ? 100 : 0 };
      if (one.inject_expectation_user != null || one.inject_expectation_team != null)
        await need("PUT", `/expectations/${one.injectexpectation_id ?? one.inject_expectation_id}`, body).catch(
          () => undefined,
        );
    }
  }
  const canceled = await stage.platform.call(
    stage.world.emails.administrator!,
    "PUT",
    `/api/tenants/${FIRST}/exercises/${runs[2]}/status`,
    { exercise_status: "CANCELED" },
  );
  // The platform ends a run a minute or two after everything of it is decided.
  for (let looks = 0; looks < 80; looks++) {
    const read = await Promise.all(runs.slice(0, 2).map((one) => need("GET", `/exercises/${one}`)));
    if (read.every((row) => row.exercise_status === "FINISHED")) break;
    await sleep(2_000);
  }
  // No agent reports here: what an agent's report would write is written to the database, where that is named.
  const database = process.env.AEV_REAL_DATABASE;
  if (database !== undefined) {
    const ran = `update injects_statuses set status_name = 'SUCCESS' where status_inject in
      (select inject_id from injects where inject_exercise in ('${runs[0]}', '${runs[1]}'))`;
    const broken = `update exercises set exercise_status = 'CANCELED' where exercise_id = '${runs[2]}'`;
    const values = [0, 1, 2].map((i) => `('${ids[`finding${i}`]}', '${ids[`machine${i}`]}')`).join(", ");
    const seen = `insert into findings_assets (finding_id, asset_id) values ${values} on conflict do nothing`;
    for (const query of [ran, seen, ...(canceled.status === 200 ? [] : [broken])])
      execFileSync("psql", ["-q", database, "-c", query]);
  }
  for (const [i, score] of [
    [0, 5.5],
    [2, 9.8],
  ] as const) {
    const cve = { vulnerability_external_id: `CVE-2026-${run}_${i}`, vulnerability_cvss_v31: score };
    const made = await need("POST", "/vulnerabilities", { ...cve, vulnerability_published: "2026-01-01T00:00:00Z" });
    stage.world.removeLater(FIRST, `/vulnerabilities/${made.vulnerability_id}`);
  }
  const template = `After ${run}`;
  const { lessonstemplate_id: set } = await need("POST", "/lessons_templates", { lessons_template_name: template });
  stage.world.removeLater(FIRST, `/lessons_templates/${set}`);
  const categories = `/lessons_templates/${set}/lessons_template_categories`;
  const category = { lessons_template_category_name: "Talk", lessons_template_category_order: 1 };
  const made = await need("POST", categories, { ...category, lessons_template_category_description: "" });
  for (const [i, text] of ["Who?", "When?", "How?"].entries()) {
    await need("POST", `${categories}/${made.lessonstemplatecategory_id}/lessons_template_questions`, {
      lessons_template_question_content: text,
      lessons_template_question_explanation: "",
      lessons_template_question_order: i + 1,
    });
  }
  return { run, scenario, team: `Team ${run}`, template };
}

const sorted = (values: readonly string[]): string[] => values.toSorted();

/** The answers, from all rows that the platform shows a person. */
async function answersOf(stage: Stage, person: string, plans: Plans): Promise<Json[]> {
  const seen = seenBy(stage, person, FIRST);
  const runs = await seen.of("simulation");
  const injects = new Map<string, Json[]>();
  for (const { exercise_id: id } of runs) {
    injects.set(id, (await seen.below(`/exercises/${id}/injects/search`, "inject_id")) ?? []);
  }
  const tests = await seen.of("atomic");
  const ran = [...[...injects.values()].flat(), ...tests].filter(({ inject_status: status }) => {
    return status?.tracking_sent_date != null && !["DRAFT", "QUEUING", "ERROR"].includes(status.status_name);
  });
  const members = new Map<string, string[]>();
  for (const { asset_group_id: id } of await seen.of("assetGroup")) {
    const rows = (await seen.below(`/asset_groups/${id}/assets/search`, "asset_id")) ?? [];
    members.set(
      id,
      rows.map(({ asset_id }) => asset_id),
    );
  }
  const targets = (type: string) =>
    ran.flatMap((row) =>
      row.inject_targets.filter((one: Json) => one.target_type === type).map((one: Json) => one.target_id),
    );
  const addressed = new Set(targets("ASSETS_GROUPS"));
  const hit = new Set([...targets("ASSETS"), ...[...addressed].flatMap((id) => members.get(id) ?? [])]);
  const machines = (await seen.of("endpoint")).map(({ asset_id: id }) => id as string);

  const contracts = await stage.platform.need(seen.email, "POST", seen.at("/injector_contracts/search"), {
    size: 1000,
    include_full_details: true,
  });
  const plays = new Map(
    contracts.content.map((one: Json) => [one.injector_contract_id, one.injector_contract_attack_patterns]),
  );
  const techniques = await seen.of("technique");
  const played = new Map<string, number[]>();
  for (const row of ran) {
    const met = (type: string) =>
      row.inject_expectation_results.some((one: Json) => one.type === type && one.avgResult === "SUCCESS") ? 1 : 0;
    for (const id of new Set((plays.get(row.inject_injector_contract?.injector_contract_id) ?? []) as string[])) {
      const [count = 0, prevented = 0, detected = 0] = played.get(id) ?? [];
      played.set(id, [count + 1, prevented + met("PREVENTION"), detected + met("DETECTION")]);
    }
  }

  const own = runs.filter((row) => row.exercise_name === plans.scenario);
  const finished = own
    .filter((row) => row.exercise_status === "FINISHED")
    .toSorted(
      (a, b) => b.exercise_start_date.localeCompare(a.exercise_start_date) || (a.exercise_id < b.exercise_id ? -1 : 1),
    );
  const ranks = ["FAILED", "PARTIAL", "SUCCESS"];
  const rank = (run: Json, title: string) => {
    const row = injects.get(run?.exercise_id)?.find((one) => one.inject_title === title);
    return ranks.indexOf(row?.inject_expectation_results.find((one: Json) => one.type === "HUMAN_RESPONSE")?.avgResult);
  };
  const steps = ["Lock the account", "Report the mail"].map((title) => {
    const [is, was] = [rank(finished[0], title), rank(finished[1], title)];
    return { title, by: is < 0 || was < 0 ? 0 : is - was };
  });

  const vulnerabilities = await seen.of("vulnerability");
  const scores = new Map(vulnerabilities.map((row) => [row.vulnerability_external_id, row.vulnerability_cvss_v31]));
  const cves = (await seen.of("finding")).filter((row) => row.finding_type === "cve");
  const worst = cves.toSorted(
    (a, b) =>
      (scores.get(b.finding_value) ?? -1) - (scores.get(a.finding_value) ?? -1) ||
      (a.finding_id < b.finding_id ? -1 : 1),
  );
  const week = tests
    .filter(({ inject_status: status }) => Date.parse(status?.tracking_sent_date ?? "") > Date.now() - 7 * 86_400_000)
    .toSorted((a, b) => b.inject_status.tracking_sent_date.localeCompare(a.inject_status.tracking_sent_date));
  const scoreOf = (row: Json) =>
    row.exercise_global_score
      .filter((one: Json) => one.distribution.some(({ value }: Json) => value > 0))
      .map((one: Json) => {
        const all = one.distribution.reduce((sum: number, { value }: Json) => sum + value, 0);
        const met = one.distribution.find((part: Json) => part.id === "SUCCESS")?.value ?? 0;
        return [row.exercise_id, one.type.toLowerCase(), Math.ceil((met * 1_000) / all) / 10];
      });
  const byStatus = (status: string) =>
    own
      .filter((row) => row.exercise_status === status)
      .flatMap(scoreOf)
      .toSorted();
  return [
    {
      attacked: sorted(machines.filter((id) => hit.has(id))),
      untouched: sorted(machines.filter((id) => !hit.has(id))),
    },
    {
      played: Object.fromEntries(played),
      never: sorted(techniques.map((row) => row.attack_pattern_id).filter((id) => !played.has(id))),
    },
    {
      better: steps.filter(({ by }) => by > 0).map(({ title }) => title),
      worse: steps.filter(({ by }) => by < 0).map(({ title }) => title),
    },
    worst
      .slice(0, 5)
      .map((row) => [
        scores.get(row.finding_value) ?? null,
        sorted(row.finding_assets.map((one: Json) => one.asset_id)),
      ]),
    {
      ran: week.map(({ inject_id: id }) => id),
      failed: sorted(week.filter((row) => row.inject_status.status_name === "ERROR").map(({ inject_id: id }) => id)),
    },
    undefined,
    sorted([...members.keys()].filter((id) => !addressed.has(id))),
    { finished: byStatus("FINISHED"), broken_off: byStatus("CANCELED") },
  ];
}

truth(
  "eight jobs of a planner on the real platform",
  missing,
  async () => {
    const stage = await startStage({
      url: settings!.AEV_REAL_URL,
      issuer: settings!.AEV_REAL_ISSUER,
      admin: process.env.AEV_REAL_ADMIN ?? "admin@example.com",
    });
    const lines: string[] = [];
    const wrong: string[] = [];
    try {
      const plans = await prepare(stage);
      for (const person of ["analyst"]) {
        const expected = await answersOf(stage, person, plans);
        for (let at = 0; at < COUNT; at++) {
          const { answer, job } = await plan(stage.product.people[person]!, at, plans).catch((error: Error) => ({
            answer: error.message,
            job: undefined,
          }));
          if (at === 5 && job !== undefined) {
            const categories = await ask(stage, FIRST, "GET", `/exercises/${answer.simulation}/lessons_categories`);
            const players = new Set(categories.flatMap((row: Json) => row.lessons_category_users));
            expected[at] = { simulation: answer.simulation, added: 3, players: players.size };
          }
          if (at === 7 && typeof answer === "object") {
            answer.finished.sort();
            answer.broken_off.sort();
            const told = new Set([...answer.finished, ...answer.broken_off].map(([id]) => id)).size;
            expected[at].left_out = 3 - told;
          }
          const isRight = JSON.stringify(answer) === JSON.stringify(expected[at]) || isSame(answer, expected[at]);
          lines.push(`${at + 1}: ${isRight ? "right" : "WRONG"}, ${job?.count} calls, ${job?.bytes} bytes`);
          if (!isRight) wrong.push(`${at + 1}: ${JSON.stringify(answer)} instead of ${JSON.stringify(expected[at])}`);
          job?.write(`aev planner ${at + 1} real`);
        }
      }
    } finally {
      process.stdout.write(`${lines.join("\n")}\n${wrong.join("\n").slice(0, 6_000)}\n`);
      await stopStage(stage);
    }
    expect(wrong).toEqual([]);
  },
  900_000,
);

function isSame(answer: Json, expected: Json): boolean {
  try {
    expect(answer).toEqual(expected);
    return true;
  } catch {
    return false;
  }
}
