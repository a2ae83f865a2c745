import { appendFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Person } from "../frame/product.js";
import type { Json } from "./platform.js";

// Two jobs from end to end, over MCP, as somebody who has one grant on one
// scenario: which runs cover a technique, launch one, read its results; and why
// did an inject fail. What is asked and answered can be written to a file.

/** One request of the platform's administrator in the first tenant, which must succeed. */
export type Prepare = (method: string, route: string, body: object) => Promise<Json>;

/** What the jobs are about. */
export interface Prepared {
  readonly technique: { readonly id: string; readonly name: string };
  readonly action: string;
  readonly machine: { readonly id: string; readonly name: string };
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
  await ask("POST", "/payloads", {
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
  };
}

/** What was asked and answered, with its bytes. */
export class Transcript {
  private calls = 0;
  private bytes = 0;

  /** @param file where it is written; nowhere where left out. */
  constructor(
    private readonly file: string | undefined,
    private readonly person: Person,
  ) {
    if (file !== undefined) writeFileSync(file, "");
  }

  /** Calls a tool, which must not refuse. */
  async call(tool: string, args: object): Promise<Json> {
    const { result, text, refusal } = await this.person.ask(tool, args);
    const bytes = Buffer.byteLength(text);
    this.calls++;
    this.bytes += bytes;
    this.write(`> ${tool} ${JSON.stringify(args)}\n< ${bytes} bytes\n${text.trim()}\n`);
    expect(refusal).toBe("");
    return result;
  }

  /** Ends a job, with how many calls it took and what they answered in bytes. */
  end(job: string): { readonly calls: number; readonly bytes: number } {
    const { calls, bytes } = this;
    this.write(`= ${job}: ${calls} calls, ${bytes} bytes\n`);
    this.calls = 0;
    this.bytes = 0;
    return { calls, bytes };
  }

  private write(text: string): void {
    if (this.file !== undefined) appendFileSync(this.file, `${text}\n`);
  }
}

/** Which runs cover a technique, launch one, read its results by technique; gives the simulation. */
export async function coverAndLaunch(transcript: Transcript, { technique, action }: Prepared): Promise<string> {
  const { attack_patterns: found } = await transcript.call("search_attack_patterns", { query: technique.name });
  expect(found.map((one: Json) => one.id)).toContain(technique.id);
  const { injector_contracts: actions } = await transcript.call("search_injector_contracts", {
    attack_pattern_id: technique.id,
    query: action,
  });
  expect(actions).toHaveLength(1);
  const { scenarios } = await transcript.call("search_scenarios", {});
  const covering: string[] = [];
  for (const { id } of scenarios) {
    const { injects } = await transcript.call("search_injects", { scenario_id: id, query: actions[0].name });
    if ((injects ?? []).length > 0) covering.push(id);
  }
  expect(covering).toHaveLength(1);
  const launched = await transcript.call("launch_scenario", { scenario_id: covering[0] });
  const simulation = launched.simulation.id as string;
  const { attack_patterns: results } = await transcript.call("get_simulation_results_by_attack_pattern", {
    simulation_id: simulation,
  });
  const own = results.find((one: Json) => one.id === technique.id);
  expect(own.injects.map((one: Json) => one.title)).toContain(action);
  const { calls, bytes } = transcript.end("which runs cover a technique, launch one, read its results by technique");
  expect(calls).toBeLessThan(12);
  expect(bytes).toBeLessThan(24_000);
  return simulation;
}

/** Why an inject failed: its state, what happened on its targets, which agent is missing. */
export async function whyFailed(
  transcript: Transcript,
  simulation: string,
  { action, machine }: Prepared,
  pauseMs: number,
): Promise<void> {
  const { injects } = await transcript.call("search_injects", { simulation_id: simulation, query: action });
  const inject_id = injects[0].id as string;
  let status = await transcript.call("get_inject_status", { inject_id });
  for (let looks = 0; status.status !== "error" && looks < 40; looks++) {
    await sleep(pauseMs);
    status = await transcript.call("get_inject_status", { inject_id });
  }
  expect(status.status).toBe("error");
  const missing = status.traces.find((one: Json) => one.endpoint !== undefined);
  expect(missing).toMatchObject({ status: "asset_agentless", endpoint: machine });
  const { targets } = await transcript.call("search_inject_targets", { inject_id, target_kind: "endpoint" });
  expect(targets.map((one: Json) => one.id)).toEqual([machine.id]);
  const { traces } = await transcript.call("get_inject_execution_traces", {
    inject_id,
    target_id: machine.id,
    target_kind: "endpoint",
  });
  expect(traces.map((one: Json) => one.message).join()).toMatch(new RegExp(`${machine.name}.*has no agent`));
  transcript.end("why did an inject fail");
}
