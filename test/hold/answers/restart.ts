import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { call } from "../../support/mcp.js";
import { freePorts, type Program, startProgram } from "../../support/program.js";
import { endedRun, integrate, type Target } from "./attacks.js";
import type { Host } from "./hosts.js";
import { MCP_SERVERS } from "./mcp-servers.js";
import { MODELS } from "./models.js";
import { beside, type Noticed, quietly } from "./steady.js";
import { memoryOf, printRow } from "./table.js";

// The process is killed while a hostile remote holds a call of a run, and starts again
// with the same data: a call is not sent again, the run ends with its reason, and nobody else
// notices. A model is asked again, once: a question has no effect that could happen twice.

const QUIET_MS = 3_000;
const LONGEST_MS = 60_000;

/** What holds a call: how it is made, and how the host counts its calls. */
interface Holder {
  readonly path: string;
  /** What the run is given. */
  make(target: Target): Promise<readonly string[]>;
  /** How often it may be sent, over the restart. */
  readonly times: number;
  /** What the run or its step must say. */
  readonly ends: RegExp;
}

const silent = Object.keys(MCP_SERVERS).indexOf("silence when called");
const silentModel = Object.keys(MODELS).indexOf("a silent model");
const UNKNOWN = /step unknown/;
const HOLDERS: Readonly<Record<string, Holder>> = {
  "restart: a remote MCP server holds a call": {
    ...{ path: `/mcp/${silent} tools/call`, times: 1, ends: UNKNOWN },
    async make(target) {
      const { url, key, host } = target;
      const request = { name: "remote", url: `${host}/mcp/${silent}` };
      const { mcp_server } = await call<{ mcp_server: { id: string } }>(url, key, "create_mcp_server", request);
      return [await integrate(target, "good"), mcp_server.id];
    },
  },
  "restart: a custom tool's GET is held": {
    ...{ path: "/held ", times: 1, ends: UNKNOWN },
    async make(target) {
      const { url, key, host } = target;
      const request = { name: "held", description: "Waits.", method: "get", url: `${host}/held`, timeout_seconds: 60 };
      const { custom_tool } = await call<{ custom_tool: { id: string } }>(url, key, "create_custom_tool", request);
      return [await integrate(target, "good"), custom_tool.id];
    },
  },
  "restart: a model holds a question": {
    ...{ path: `/model/${silentModel}/v1/chat/completions `, times: 2, ends: /^run timed_out; it took longer/ },
    make: async (target) => [await integrate(target, `model/${silentModel}`)],
  },
};

/** Kills and starts again for each of them. @returns whether all hold. */
export async function restart(host: Host, wanted: RegExp): Promise<boolean> {
  let holds = true;
  for (const [name, holder] of Object.entries(HOLDERS).filter(([one]) => wanted.test(one)))
    holds = (await killDuring(name, holder, host)) && holds;
  return holds;
}

async function killDuring(name: string, { path, make, times, ends }: Holder, host: Host): Promise<boolean> {
  const [port, grpcPort] = (await freePorts(2)).map(String) as [string, string];
  const env = { PORT: port, GRPC_PORT: grpcPort };
  const before = await startProgram({ env, keepData: true });
  let after: Program | undefined;
  try {
    const target = targetOf(before, host);
    const counted = async (): Promise<number> => (await host.asked())[path] ?? 0;
    const sent = await counted();
    const quiet = await quietly(servedBy(before), QUIET_MS);
    const runId = await beginRun(target, await make(target));
    for (const until = Date.now() + LONGEST_MS; (await counted()) === sent; await sleep(50))
      if (Date.now() > until) throw new Error("the run did not call what holds it");
    before.process.kill("SIGKILL");
    await once(before.process, "exit");
    after = await startProgram({ env, dataDir: before.dataDir });
    const again = targetOf(after, host);
    const one = await beside(servedBy(after), async () => {
      const said = await endedRun(again, runId, LONGEST_MS);
      const asked = (await counted()) - sent;
      if (asked !== times) throw new Error(`it was sent ${asked} times, not ${times}; ${said}`);
      if (!ends.test(said)) throw new Error(`it does not end with its reason: ${said}`);
      return `it was sent ${times === 1 ? "once" : `${times} times`}; ${said}`;
    });
    return printRow(name, one, quiet satisfies Noticed, memoryOf(after.process.pid));
  } finally {
    await after?.stop();
    await before.stop();
    before.forget();
  }
}

const targetOf = ({ baseUrl, bootstrap }: Program, host: Host): Target => ({
  url: `${baseUrl}/mcp/core`,
  key: bootstrap.analyst.api_key,
  host: host.url,
});
const servedBy = ({ baseUrl, bootstrap }: Program) => ({ baseUrl, key: bootstrap.admin.api_key });

async function beginRun({ url, key }: Target, resource_ids: readonly string[]): Promise<string> {
  const { agent } = await call<{ agent: { id: string } }>(url, key, "create_agent", { name: "Agent", resource_ids });
  const request = { agent_id: agent.id, input: "Look.", timeout_seconds: 40 };
  return (await call<{ run: { id: string } }>(url, key, "trigger_run", request)).run.id;
}
