import { allOf, type Question } from "../frame/questions.js";
import { groundOf, september, thisMonth } from "./asked-ground.js";
import { actionsSeen, begun, isError, outcomeOf, reachSeen, runsSeen, sorted } from "./asked-seen.js";
import type { Json } from "./platform.js";
import { type Stage, seenBy } from "./stage.js";

// The jobs of asked.md about what ran: 1 to 3, 8 and 10.

const DAY_MS = 86_400_000;
const STARTED = ["running", "paused", "finished", "canceled"];
const WANTED = ["credentials", "port", "portscan", "cve"];
const day = (days: number): Date => new Date(Date.now() + days * DAY_MS);

/** All rows of a platform's list with their ids. */
const byId = (rows: readonly Json[], id: string, name: string) => new Map(rows.map((row) => [row[id], row[name]]));

/** The reasons of a failure, without what went well. */
const reasons = (statuses: readonly string[]) =>
  sorted(new Set(statuses.map((one) => one.toLowerCase()).filter((one) => !["info", "success"].includes(one))));

const needAs = (stage: Stage, person: string) => (path: string, body: object) =>
  stage.platform.need(seenBy(stage, person).email, "POST", path, body);

/** The jobs about results. */
export function resultJobs(run: string): readonly Question<Stage>[] {
  return [
    {
      words:
        "1. Which techniques did we test on which endpoints since September, and which of the servers in Paris did we not touch?",
      as: "reader",
      async ask(job) {
        const { asset_groups: groups } = await job.get<Json>("list_asset_groups", { query: "Servers Paris" });
        const group = groups.find(({ name }: Json) => name === `Servers Paris ${run}`);
        const period = { tested_after: september().toISOString() };
        const of = (args: object) => allOf<Json>(job, "inspect_coverage", "coverage", { ...period, ...args });
        const tested: Record<string, string[]> = {};
        for (const { id, name } of await of({ kind: "endpoint", state: "tested" })) {
          const rows = await of({ kind: "attack_pattern", state: "tested", endpoint_id: id });
          tested[name] = sorted(rows.map((row) => row.external_id));
        }
        const untouched = await of({ kind: "endpoint", state: "untested", asset_group_id: group.id });
        return { tested, untouched: sorted(untouched.map(({ name }) => name)) };
      },
      async answer(stage) {
        await groundOf(stage);
        const seen = seenBy(stage, "reader");
        const injects = [...(await runsSeen(seen)).flatMap((one) => one.injects), ...(await seen.of("atomic"))];
        const ran = injects.filter((one) => begun(one) >= september().getTime() && !isError(one));
        const [reach, actions] = [await reachSeen(seen), await actionsSeen(seen, needAs(stage, "reader"))];
        const endpoints = byId(await seen.of("endpoint"), "asset_id", "asset_name");
        const techniques = byId(await seen.of("technique"), "attack_pattern_id", "attack_pattern_external_id");
        const tested: Record<string, string[]> = {};
        for (const [id, name] of endpoints) {
          const own = ran.filter((one) => reach(one).has(id));
          if (own.length === 0) continue;
          const played = own.flatMap(
            ({ inject_injector_contract: contract }) =>
              actions.get(contract?.injector_contract_id)?.injector_contract_attack_patterns ?? [],
          );
          tested[name] = sorted(new Set(played.map((technique: string) => techniques.get(technique))));
        }
        const paris = (await seen.of("assetGroup")).find((row) => row.asset_group_name === `Servers Paris ${run}`);
        const members = reach({ inject_asset_groups: [paris!.asset_group_id] });
        const names = [...members].map((id) => endpoints.get(id));
        return { tested, untouched: sorted(names.filter((name) => !(name in tested))) };
      },
    },
    {
      words:
        "2. Compare the last two runs of Ransomware Q4: each kind of result, the injects that got worse, and those of one run only.",
      as: "analyst",
      async ask(job) {
        const { scenarios } = await job.get<Json>("list_scenarios", { query: "Ransomware Q4" });
        const { id } = scenarios.find(({ name }: Json) => name === `Ransomware Q4 ${run}`);
        const { simulations } = await job.get<Json>("list_simulations", {
          scenario_id: id,
          statuses: ["finished"],
          order_by: "started",
        });
        const args = { simulation_id: simulations[1].id, other_simulation_id: simulations[0].id, page_size: 100 };
        const told = await job.get<Json>("inspect_simulation_comparison", args);
        const of = (...changes: string[]) =>
          sorted(told.injects.filter((one: Json) => changes.includes(one.change)).map((one: Json) => one.title));
        const scores = ({ scores: all }: Json) => sorted(all.map((one: Json) => `${one.kind} ${one.met}/${one.all}`));
        return {
          before: scores(told.before),
          after: scores(told.after),
          worse: of("worse", "mixed"),
          only: [of("only_before"), of("only_after")],
        };
      },
      async answer(stage) {
        const { scenario } = await groundOf(stage);
        const seen = seenBy(stage, "analyst");
        const own = (await runsSeen(seen)).filter(({ row }) => row.exercise_name === `Ransomware Q4 ${run}`);
        const read = await Promise.all(own.map(({ row }) => seen.read(`/exercises/${row.exercise_id}`)));
        const [after, before] = own
          .filter((_, i) => read[i].exercise_scenario === scenario && read[i].exercise_status === "FINISHED")
          .sort((a, b) => (a.row.exercise_start_date < b.row.exercise_start_date ? 1 : -1));
        const scores = ({ row }: Json) =>
          sorted(
            row.exercise_global_score.flatMap(({ type, distribution }: Json) => {
              const all = distribution.reduce((sum: number, { value }: Json) => sum + value, 0);
              const met = distribution.find((part: Json) => part.id === "SUCCESS")?.value ?? 0;
              return all === 0 ? [] : [`${type.toLowerCase()} ${met}/${all}`];
            }),
          );
        const ranks = ["FAILED", "PARTIAL", "SUCCESS"];
        const key = (one: Json) => `${one.inject_title} ${one.inject_injector_contract?.injector_contract_id}`;
        const had = new Map(before!.injects.map((one) => [key(one), one]));
        const has = new Map(after!.injects.map((one) => [key(one), one]));
        const isWorse = (name: string) =>
          ["PREVENTION", "DETECTION", "VULNERABILITY", "HUMAN_RESPONSE"].some((type) => {
            const [was, is] = [had, has].map((all) => ranks.indexOf(outcomeOf(all.get(name), type) ?? ""));
            return is! >= 0 && is! < was!;
          });
        const titles = (all: readonly Json[]) => sorted(all.map((one) => one.inject_title));
        return {
          before: scores(before),
          after: scores(after),
          worse: titles([...had].flatMap(([name, one]) => (has.has(name) && isWorse(name) ? [one] : []))),
          only: [
            titles([...had].flatMap(([name, one]) => (has.has(name) ? [] : [one]))),
            titles([...has].flatMap(([name, one]) => (had.has(name) ? [] : [one]))),
          ],
        };
      },
    },
    {
      words: "3. What failed this month, why, by which injector, on which endpoint or team; and what went well later?",
      as: "reader",
      async ask(job) {
        const simulations = await allOf<Json>(job, "list_simulations", "simulations", { statuses: STARTED });
        const injects: Json[] = [];
        for (const { id, name } of simulations) {
          let page_token = "";
          do {
            const args = { simulation_id: id, with_targets: true, page_size: 25, page_token };
            const page = await job.get<Json>("list_injects", args);
            for (const one of page.injects ?? []) injects.push({ ...one, simulation: name });
            page_token = page.next_page_token ?? "";
          } while (page_token !== "");
        }
        const told: unknown[] = [];
        for (const one of injects) {
          if (one.status !== "error" || Date.parse(one.sent_at) < thisMonth().getTime()) continue;
          const { traces = [] } = await job.get<Json>("get_inject_status", { inject_id: one.id });
          const again = injects.some(
            (other) =>
              other.title === one.title &&
              other.type === one.type &&
              other.status === "success" &&
              other.sent_at > one.sent_at,
          );
          told.push([
            one.simulation,
            one.title,
            one.type,
            reasons(traces.map(({ status }: Json) => status)),
            sorted((one.targets ?? []).map(({ name }: Json) => name)),
            again,
          ]);
        }
        return sorted(told.map((row) => JSON.stringify(row)));
      },
      async answer(stage) {
        await groundOf(stage);
        const seen = seenBy(stage, "reader");
        const runs = await runsSeen(seen);
        const all = runs.flatMap(({ injects }) => injects);
        const told: string[] = [];
        for (const { row, injects } of runs) {
          for (const one of injects.filter((each) => isError(each) && begun(each) >= thisMonth().getTime())) {
            const { status_main_traces: traces } = await seen.read(`/injects/status?injectId=${one.inject_id}`);
            const reached = (await seen.below(`/injects/${one.inject_id}/targets/ASSETS/search`, "target_id")) ?? [];
            for (const { target_id: id } of reached) {
              const query = `injectId=${one.inject_id}&targetId=${id}&targetType=ASSETS`;
              traces.push(...(await seen.read(`/injects/execution-traces?${query}`)));
            }
            const again = all.some(
              (other) =>
                other.inject_title === one.inject_title &&
                other.inject_type === one.inject_type &&
                other.inject_status?.status_name === "SUCCESS" &&
                begun(other) > begun(one),
            );
            told.push(
              JSON.stringify([
                row.exercise_name,
                one.inject_title,
                one.inject_type,
                reasons(traces.map((trace: Json) => trace.execution_status)),
                sorted(one.inject_targets.map((target: Json) => target.target_name)),
                again,
              ]),
            );
          }
        }
        return sorted(told);
      },
    },
    {
      words:
        "8. Which credentials, ports and CVEs did simulations find in 60 days, on which endpoints twice, and which of these are production?",
      as: "reader",
      async ask(job) {
        const simulations = await allOf<Json>(job, "list_simulations", "simulations", { statuses: STARTED });
        const findings: Json[] = [];
        for (const { id } of simulations) {
          const args = { simulation_id: id, types: WANTED, created_after: day(-60).toISOString() };
          findings.push(...(await allOf<Json>(job, "list_findings", "findings", args)));
        }
        const production = await allOf<Json>(job, "list_endpoints", "endpoints", { labels: [`production-${run}`] });
        return twiceOn(
          findings.map(({ type, value, endpoints = [] }) => ({ type, value, endpoints })),
          new Set(production.map(({ id }) => id)),
        );
      },
      async answer(stage) {
        await groundOf(stage);
        const seen = seenBy(stage, "reader");
        const rows: Json[] = [];
        for (const { row } of await runsSeen(seen)) {
          rows.push(...((await seen.below(`/findings/exercises/${row.exercise_id}/search`, "finding_id")) ?? []));
        }
        const found = rows.filter(
          (row) => WANTED.includes(row.finding_type) && Date.parse(row.finding_created_at) > day(-60).getTime(),
        );
        const label = (await seen.of("tag")).find((row) => row.tag_name === `production-${run}`)!.tag_id;
        const tagged = (await seen.of("endpoint")).filter((row) => row.asset_tags.includes(label));
        const names = byId(await seen.of("endpoint"), "asset_id", "asset_name");
        // A search of the platform can leave endpoints out that a read has.
        const read = await Promise.all(found.map((row) => seen.read(`/findings/${row.finding_id}`)));
        return twiceOn(
          read.map((row) => ({
            type: row.finding_type,
            value: row.finding_value,
            endpoints: row.finding_assets.map((id: string) => ({ id, name: names.get(id) })),
          })),
          new Set(tagged.map((row) => row.asset_id)),
        );
      },
    },
    {
      words:
        "10. Which payloads for Linux of T1059 did we never run, which ran undefended? Run one of the first on srv-paris-02.",
      as: "analyst",
      async ask(job) {
        const { attack_patterns: patterns } = await job.get<Json>("list_attack_patterns", {
          query: "T1059",
          page_size: 100,
        });
        const main = patterns.find(({ external_id: external }: Json) => external === "T1059");
        const wanted = patterns.filter((one: Json) => one.id === main.id || one.parent?.id === main.id);
        const actions = new Map<string, Json>();
        for (const { id } of wanted) {
          const args = { attack_pattern_id: id, platforms: ["linux"] };
          for (const one of await allOf<Json>(job, "list_injector_contracts", "injector_contracts", args)) {
            actions.set(one.name, one);
          }
        }
        const injects: Json[] = [];
        for (const { id } of await allOf<Json>(job, "list_simulations", "simulations", { statuses: STARTED })) {
          injects.push(...(await allOf<Json>(job, "list_injects", "injects", { simulation_id: id })));
        }
        injects.push(...(await allOf<Json>(job, "list_atomic_tests", "atomic_tests", { order_by: "ran" })));
        const ran = new Map<string, Json[]>();
        for (const one of injects) {
          if (one.sent_at === undefined && one.ran_at === undefined) continue;
          if (["draft", "queuing", "error"].includes(one.status)) continue;
          ran.set(one.action, [...(ran.get(one.action) ?? []), one]);
        }
        const never = sorted([...actions.keys()].filter((name) => !ran.has(name)));
        const undefended = [...actions.keys()].filter((name) =>
          ran.get(name)?.some(({ outcomes }) => outcomes?.prevention === "failed" && outcomes.detection === "failed"),
        );
        const { endpoints } = await job.get<Json>("list_endpoints", { query: `srv-paris-02-${run}` });
        const first = never.find((name) => name.includes(run))!;
        const { atomic_test: test } = await job.get<Json>("create_atomic_test", {
          title: `As asked ${run}`,
          injector_contract_id: actions.get(first)!.id,
          endpoint_ids: [endpoints[0].id],
        });
        await job.get<Json>("launch_atomic_test", { atomic_test_id: test.id });
        const { status } = await job.get<Json>("get_inject_status", { inject_id: test.id });
        const { tenants } = await job.get<Json>("whoami");
        const mayLaunch = tenants[0].capabilities.includes("LAUNCH_ASSESSMENT");
        return { never, undefended: sorted(undefended), ended: status, mayLaunch };
      },
      async answer(stage) {
        await groundOf(stage);
        const seen = seenBy(stage, "analyst");
        const techniques = await seen.of("technique");
        const main = techniques.find((row) => row.attack_pattern_external_id === "T1059")!.attack_pattern_id;
        const wanted = new Set(
          techniques
            .filter((row) => row.attack_pattern_id === main || row.attack_pattern_parent === main)
            .map((row) => row.attack_pattern_id),
        );
        const injects = [...(await runsSeen(seen)).flatMap((one) => one.injects), ...(await seen.of("atomic"))];
        const never: string[] = [];
        const undefended: string[] = [];
        for (const { payload_id: id } of await seen.of("payload")) {
          const payload = await seen.read(`/payloads/${id}`);
          const isWanted = payload.payload_attack_patterns.some((one: string) => wanted.has(one));
          if (!isWanted || !payload.payload_platforms.includes("Linux")) continue;
          const own = injects.filter(
            (one) =>
              one.inject_injector_contract?.injector_contract_payload?.payload_id === id &&
              begun(one) > 0 &&
              !isError(one),
          );
          if (own.length === 0) never.push(payload.payload_name);
          const isOpen = (one: Json) => ["PREVENTION", "DETECTION"].every((type) => outcomeOf(one, type) === "FAILED");
          if (own.some(isOpen)) undefended.push(payload.payload_name);
        }
        const { user_capabilities: rights } = await stage.platform.need(seen.email, "GET", "/api/me");
        // The agent of the endpoint reports that it ran.
        return {
          never: sorted(never),
          undefended: sorted(undefended),
          ended: "success",
          mayLaunch: rights.includes("LAUNCH_ASSESSMENT"),
        };
      },
    },
  ];
}

interface Found {
  readonly type: string;
  readonly value: string;
  readonly endpoints: readonly Json[];
}

/** What was found, what of it more than once on an endpoint, and the endpoints of these that are production. */
function twiceOn(findings: readonly Found[], production: ReadonlySet<string>) {
  const counts = new Map<string, number>();
  const names = new Map<string, string>();
  for (const { type, value, endpoints } of findings) {
    for (const { id, name } of endpoints) {
      counts.set(`${id} ${type} ${value}`, (counts.get(`${id} ${type} ${value}`) ?? 0) + 1);
      names.set(id, name);
    }
  }
  const twice = [...counts].filter(([, count]) => count > 1).map(([key]) => key);
  const endpoints = new Set(twice.map((key) => key.slice(0, 36)));
  return {
    all: sorted(findings.map(({ type, value }) => `${type} ${value}`)),
    twice: sorted(twice),
    production: sorted([...endpoints].filter((id) => production.has(id)).map((id) => names.get(id))),
  };
}
