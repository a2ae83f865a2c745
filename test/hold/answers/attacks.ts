import { setTimeout as sleep } from "node:timers/promises";
import { call } from "../../support/mcp.js";
import { DOCUMENTS } from "./documents.js";
import { MCP_SERVERS, TOKEN } from "./mcp-servers.js";
import { EMBEDDERS, MODELS } from "./models.js";

/** Where an attack goes, and with which ordinary key. */
export interface Target {
  /** The endpoint of core. */
  readonly url: string;
  readonly key: string;
  /** Of the hostile remotes. */
  readonly host: string;
  /** How long an attack is waited for, in milliseconds. */
  readonly longestMs?: number;
}

/** What came of an attack: the reasons that its own user was told. */
export type Attack = (target: Target) => Promise<string>;

/** How long an attack is waited for, in milliseconds. */
const LONGEST_MS = 60_000;
/** How often it is asked how far an attack is, in milliseconds. */
const POLL_MS = 200;

/** The name of the knowledge bases. */
const BASE = "base";

interface Made {
  readonly integration: { readonly id: string };
  readonly mcp_server: { readonly id: string };
  readonly agent: { readonly id: string };
  readonly run: { readonly id: string; readonly state: string; readonly error?: { readonly message: string } };
  readonly knowledge_base: { readonly id: string };
  readonly knowledge_bases?: readonly { readonly id: string; readonly name: string }[];
  readonly document: { readonly id: string; readonly state: string; readonly problem?: string };
  readonly documents: readonly { readonly state: string; readonly problem?: string; readonly percent?: number }[];
  readonly error?: string;
  readonly connection: string;
  /** Absent where there are none. */
  readonly steps?: readonly Step[];
}

interface Step {
  readonly kind: string;
  readonly state: string;
  readonly output?: string;
}

const asks =
  ({ url, key }: Target) =>
  (name: string, args: object): Promise<Made> =>
    call<Made>(url, key, name, args);

/** An integration of the model at this path. */
export async function integrate(target: Target, path: string): Promise<string> {
  const request = { name: "Models", type: "openai", endpoint: `${target.host}/${path}/v1`, models: ["m"] };
  return (await asks(target)("create_integration", request)).integration.id;
}

/** Runs an agent with these, and says how its steps and the run itself ended. */
async function run(target: Target, resource_ids: readonly string[]): Promise<string> {
  const ask = asks(target);
  const { agent } = await ask("create_agent", { name: "Agent", resource_ids, tools: ["core/list_agents"] });
  const begun = await ask("trigger_run", { agent_id: agent.id, input: "Look.", timeout_seconds: 12, max_steps: 45 });
  return endedRun(target, begun.run.id, target.longestMs);
}

/** Waits until a run has ended, and says how it and its steps did. */
export async function endedRun(target: Target, run_id: string, longestMs = LONGEST_MS): Promise<string> {
  for (const until = Date.now() + longestMs; ; await sleep(POLL_MS)) {
    const { run: now } = await asks(target)("get_run", { run_id });
    if (["queued", "running"].includes(now.state) && Date.now() < until) continue;
    const failed = (await stepsOf(target, run_id)).find(({ state }) => state === "failed" || state === "unknown");
    return [`run ${now.state}`, now.error?.message, failed && `step ${failed.state}: ${failed.output}`]
      .filter((part) => part !== undefined)
      .join("; ");
  }
}

/** The steps of a run. */
export async function stepsOf(target: Target, run_id: string): Promise<readonly Step[]> {
  return (await asks(target)("list_run_steps", { run_id })).steps ?? [];
}

const mcpServer =
  (n: number): Attack =>
  async (target) => {
    const ask = asks(target);
    const headers = [{ name: "Authorization", value: `Bearer ${TOKEN}` }];
    const made = await ask("create_mcp_server", { name: "remote", url: `${target.host}/mcp/${n}`, headers });
    const id = made.mcp_server.id;
    const tested = await ask("test_mcp_server", { mcp_server_id: id });
    const ended = await run(target, [await integrate(target, "good"), id]);
    return `test ${tested.connection}${tested.error === undefined ? "" : `: ${tested.error}`}; ${ended}`;
  };

const model =
  (n: number): Attack =>
  async (target) =>
    run(target, [await integrate(target, `model/${n}`)]);

/** Adds a document and waits until it is searchable, or is not going to be. */
export async function documented(target: Target, base: object, document: object): Promise<string> {
  const ask = asks(target);
  const { knowledge_base } = await ask("create_knowledge_base", { name: BASE, ...base });
  await ask("create_document", { knowledge_base_id: knowledge_base.id, name: "Document", ...document });
  for (const until = Date.now() + (target.longestMs ?? LONGEST_MS) / 2; ; await sleep(POLL_MS)) {
    const { documents } = await ask("list_documents", { knowledge_base_id: knowledge_base.id });
    const [{ state, problem, percent } = { state: "none" }] = documents;
    // One that waits with a reason is tried again later.
    if (state === "waiting" && problem === undefined && Date.now() < until) continue;
    if (state === "ready") await ask("search_knowledge", { query: "text", knowledge_base_ids: [knowledge_base.id] });
    const progress = percent === undefined ? "" : `, ${percent} % of it embedded`;
    return `document ${state}${problem === undefined ? progress : `: ${problem}`}`;
  }
}

/** Deletes all knowledge bases of the attacker, with what is still to be read of them. */
export async function forgetDocuments(target: Target): Promise<void> {
  for (;;) {
    const { knowledge_bases = [] } = await asks(target)("list_knowledge_bases", { page_size: 50 });
    const own = knowledge_bases.filter(({ name }) => name === BASE);
    if (own.length === 0) return;
    for (const { id } of own) await asks(target)("delete_knowledge_base", { knowledge_base_id: id });
  }
}

const embedder =
  (n: number): Attack =>
  async (target) => {
    const integration_id = await integrate(target, `embedder/${n}`);
    return documented(target, { integration_id, embedding_model: "m" }, { content: "A text.", type: "text" });
  };

const document =
  (kind: string): Attack =>
  (target) =>
    documented(target, {}, DOCUMENTS[kind]!());

/** Every attack by its name. */
export const ATTACKS: Readonly<Record<string, Attack>> = Object.fromEntries([
  ...Object.keys(MCP_SERVERS).map((kind, n) => [`MCP: ${kind}`, mcpServer(n)]),
  ...Object.keys(MODELS).map((kind, n) => [`model: ${kind}`, model(n)]),
  ...Object.keys(EMBEDDERS).map((kind, n) => [`embedder: ${kind}`, embedder(n)]),
  ...Object.keys(DOCUMENTS).map((kind) => [`document: ${kind}`, document(kind)]),
]);
