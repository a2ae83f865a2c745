import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Json } from "./platform.js";
import { ask } from "./rows/lives.js";
import type { Stage } from "./stage.js";
import { FIRST } from "./world.js";

// Endpoints with agents, and what an agent would report: no agent runs here. Time
// cannot pass in a test, so the database gets dates in the past.

/** A request of the administrator in the first tenant. */
export const need = (stage: Stage, method: string, route: string, body?: object): Promise<Json> =>
  ask(stage, FIRST, method, route, body);

/** Statements for the platform's database. */
export function write(...statements: readonly string[]): void {
  for (const statement of statements) {
    execFileSync("psql", ["-q", "-v", "ON_ERROR_STOP=1", process.env.AEV_REAL_DATABASE!, "-c", statement]);
  }
}

/** Waits for what the platform does on its own time. @throws Error if it does not. */
export async function until(what: string, isThere: () => Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 150; looks++) {
    if (await isThere()) return;
    await sleep(2_000);
  }
  throw new Error(`${what} is not there`);
}

/** An endpoint; `agent` is absent if it has none. */
export interface Server {
  readonly id: string;
  readonly name: string;
  readonly agent?: string;
}

let last = Date.now() % 0xff_ff_ff;

/** Makes an endpoint, with an agent that reports now if it is to have one. */
export async function makeServer(
  stage: Stage,
  name: string,
  { hasAgent = true, labels = [] }: { readonly hasAgent?: boolean; readonly labels?: readonly string[] } = {},
): Promise<Server> {
  const bytes = (last++).toString(16).padStart(6, "0").match(/../g)!;
  const body = {
    asset_name: name,
    endpoint_hostname: name,
    endpoint_platform: "Linux",
    endpoint_arch: "x86_64",
    endpoint_ips: [`10.91.${last % 250}.${(last >> 8) % 250}`],
    endpoint_mac_addresses: [`02:a1:e7:${bytes.join(":")}`],
    endpoint_is_eol: false,
    asset_tags: labels,
  };
  if (!hasAgent) {
    const { asset_id: id } = await need(stage, "POST", "/endpoints/agentless", body);
    return { id, name };
  }
  const { asset_id: id } = await need(stage, "POST", "/endpoints/register", {
    ...body,
    asset_external_reference: `agent of ${name}`,
    agent_is_service: true,
    agent_is_elevated: true,
    agent_executed_by_user: "root",
    agent_installation_mode: "service",
    agent_installation_directory: "/opt/agent",
    agent_service_name: "agent",
    endpoint_agent_version: "2.4.0",
  });
  await need(stage, "PUT", `/endpoints/${id}`, body);
  const { asset_agents: agents } = await need(stage, "GET", `/endpoints/${id}`);
  return { id, name, agent: agents[0].agent_id };
}

/** Lets agents have been silent for some days. */
export const silence = (servers: readonly Server[], days: number): void =>
  write(
    `update agents set agent_last_seen = now() - interval '${days} days'
     where agent_asset in (${servers.map(({ id }) => `'${id}'`).join(", ")})`,
  );

/** Reports as an agent that an inject ran. */
export async function report(stage: Stage, inject: string, agent: string): Promise<void> {
  for (const action of ["command_execution", "complete"]) {
    await need(stage, "POST", `/injects/execution/${agent}/callback/${inject}`, {
      execution_message: action === "complete" ? "done" : '{"stdout":"uid=0(root)","stderr":"","exit_code":0}',
      execution_status: action === "complete" ? "INFO" : "SUCCESS",
      execution_duration: 10,
      execution_action: action,
    });
  }
}

/** A browser sends this twice, in a cookie and in a header. */
const CSRF = "00000000-0000-4000-8000-000000000001";

/** A call of a player, who has no account: a link in a mail names the player. */
export async function asPlayer(
  stage: Stage,
  player: string,
  method: string,
  route: string,
  body?: object,
): Promise<void> {
  const reply = await fetch(new URL(`/api/player${route}?userId=${player}`, stage.platform.url), {
    method,
    headers: { "content-type": "application/json", cookie: `XSRF-TOKEN=${CSRF}`, "x-xsrf-token": CSRF },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!reply.ok) throw new Error(`${method} ${route}: ${reply.status} ${await reply.text()}`);
}
