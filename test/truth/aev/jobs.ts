import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Person } from "../frame/product.js";
import { Transcript } from "../frame/transcript.js";
import type { Json } from "./platform.js";

// Two jobs from end to end, over MCP, as somebody who may launch one scenario
// and sees what payloads play: which runs cover a technique, launch one, read
// its results; and why did an inject fail.

/** The rights on the platform that the jobs need besides a grant, LAUNCHER on the scenario. */
export const NEEDED = ["ACCESS_PAYLOADS"] as const;

/** One request of the platform's administrator in the first tenant, which must succeed. */
export type Prepare = (method: string, route: string, body?: object) => Promise<Json>;

/** What the jobs are about. */
export interface Prepared {
  readonly technique: { readonly id: string; readonly name: string };
  readonly action: string;
  readonly machine: { readonly id: string; readonly name: string };
  /** The routes of what was made outside the scenario. */
  readonly made: readonly string[];
}

/** Puts an attack on a machine without an agent into a scenario, made of a payload that plays a technique. */
export async function prepare(ask: Prepare, scenario: string, technique: Json, run: string): Promise<Prepared> {
  const name = `machine-${run}`;
  const machine = await ask("POST", "/endpoints/agentless", {
    asset_name: name,
    endpoint_hostname: name,
    endpoint_platform: "Linux",
    endpoint_arch: "x86_64",
    endpoint_ips: ["10.88.1.1"],
    endpoint_mac_addresses: [],
    asset_tags: [],
    endpoint_is_eol: false,
  });
  const action = `Job attack ${run}`;
  const { payload_id: payload } = await ask("POST", "/payloads", {
    payload_type: "Command",
    payload_name: action,
    payload_source: "MANUAL",
    payload_status: "VERIFIED",
    payload_platforms: ["Linux"],
    payload_domains: [],
    payload_attack_patterns: [technique.attack_pattern_id],
    command_executor: "sh",
    command_content: "id",
  });
  const { content } = await ask("POST", "/injector_contracts/search", { page: 0, size: 1_000 });
  const contract = content.find((one: Json) => one.injector_contract_labels?.en === action);
  await ask("POST", `/scenarios/${scenario}/injects`, {
    inject_title: action,
    inject_injector_contract: contract.injector_contract_id,
    inject_content: {},
    inject_depends_duration: 0,
    inject_assets: [machine.asset_id],
    inject_asset_groups: [],
    inject_teams: [],
    inject_documents: [],
    inject_tags: [],
    inject_all_teams: false,
    inject_enabled: true,
  });
  return {
    technique: { id: technique.attack_pattern_id, name: technique.attack_pattern_external_id },
    action,
    machine: { id: machine.asset_id, name },
    made: [`/payloads/${payload}`, `/endpoints/${machine.asset_id}`],
  };
}

/** Which runs cover a technique, launch one, read its results by technique; gives the simulation. */
export async function coverAndLaunch(
  person: Person,
  { technique, action }: Prepared,
): Promise<{ readonly simulation: string; readonly job: Transcript }> {
  const job = new Transcript("Which runs cover a technique, launch one, read its results by technique", person);
  const { attack_patterns: found } = await job.get<Json>("list_attack_patterns", { query: technique.name });
  expect(found.map((one: Json) => one.id)).toContain(technique.id);
  const { injector_contracts: actions } = await job.get<Json>("list_injector_contracts", {
    attack_pattern_id: technique.id,
    query: action,
  });
  expect(actions).toHaveLength(1);
  const { scenarios } = await job.get<Json>("list_scenarios", {});
  const covering: string[] = [];
  for (const { id } of scenarios) {
    const { injects } = await job.get<Json>("list_injects", { scenario_id: id, query: actions[0].name });
    if ((injects ?? []).length > 0) covering.push(id);
  }
  expect(covering).toHaveLength(1);
  const launched = await job.get<Json>("launch_scenario", { scenario_id: covering[0] });
  const simulation = launched.simulation.id as string;
  const { attack_patterns: results } = await job.get<Json>("get_simulation_results_by_attack_pattern", {
    simulation_id: simulation,
  });
  const own = results.find((one: Json) => one.id === technique.id);
  expect(own.injects.map((one: Json) => one.title)).toContain(action);
  expect(job.count).toBeLessThan(12);
  expect(job.bytes).toBeLessThan(12_000);
  return { simulation, job };
}

/** Why an inject failed: its state, what happened on its targets, which agent is missing. */
export async function whyFailed(
  person: Person,
  simulation: string,
  { action, machine }: Prepared,
  pauseMs: number,
): Promise<Transcript> {
  const job = new Transcript("Why did an inject fail", person);
  const { injects } = await job.get<Json>("list_injects", { simulation_id: simulation, query: action });
  const inject_id = injects[0].id as string;
  // The platform runs what is due once a minute.
  for (let looks = 0; looks < 40; looks++) {
    const { result } = await person.ask("get_inject_status", { inject_id });
    if (result?.status === "error") break;
    await sleep(pauseMs);
  }
  const status = await job.get<Json>("get_inject_status", { inject_id });
  expect(status.status).toBe("error");
  const missing = status.traces.find((one: Json) => one.endpoint !== undefined);
  expect(missing).toMatchObject({ status: "asset_agentless", endpoint: machine });
  const { targets } = await job.get<Json>("list_inject_targets", { inject_id, target_kind: "endpoint" });
  expect(targets.map((one: Json) => one.id)).toEqual([machine.id]);
  const { traces } = await job.get<Json>("get_inject_execution_traces", {
    inject_id,
    target_id: machine.id,
    target_kind: "endpoint",
  });
  expect(traces.map((one: Json) => one.message).join()).toMatch(new RegExp(`${machine.name}.*has no agent`));
  return job;
}
