import { createHash } from "node:crypto";
import type { Base } from "../../../services/shared/store/store.js";
import type { Rig } from "./rig.js";

// Collections of any size, the same for the same seed: an administrator and a
// group see all of them, carl ten. Written past the services, which would take
// minutes.

/** What is put in, besides what each record needs. */
export interface Many {
  readonly count: number;
  readonly seed?: string;
  /** The number of the agent that every trace is of; where not given, each trace is of an agent of its own. */
  readonly oneAgent?: number;
}

const BATCH = 1_000;
const CARLS = 10;
const START = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;

/** Puts agents, skills and traces in: `count` of each. */
export async function putMany({ store }: Rig, { count, seed = "lists", oneAgent }: Many): Promise<void> {
  const kinds = {
    agents: agentOf,
    skills: skillOf,
    traces: (n: number) => traceOf(n, idOf(oneAgent ?? n, seed), seed),
  };
  for (const [name, recordOf] of Object.entries(kinds)) {
    for (let from = 0; from < count; from += BATCH) {
      const some = Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => recordOf(from + i, count, seed));
      await store.collection(name).insertMany(some);
    }
  }
}

/** Ids as they are made one after another, a second apart. */
function idOf(n: number, seed: string): string {
  const time = (START + n * 1_000).toString(16).padStart(12, "0");
  const tail = createHash("sha256").update(`${seed} ${n}`).digest("hex");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${tail.slice(0, 3)}-8${tail.slice(3, 6)}-${tail.slice(6, 18)}`;
}

/** Carl's are spread over all there is. */
function isCarls(n: number, count: number): boolean {
  return n % Math.floor(count / CARLS) === 0 && n / Math.floor(count / CARLS) < CARLS;
}

function objectOf(n: number, count: number, seed: string) {
  const _id = idOf(n, seed);
  const at = new Date(START + n * 1_000);
  const owner = isCarls(n, count) ? "carl" : "bob";
  return {
    _id,
    name: `object ${n}`,
    description: `What ${_id} is for, in a sentence of usual length that says when to use it and when not to.`,
    labels: [n % 2 === 0 ? "even" : "odd", ...(n % Math.floor(count / 5) === 7 ? ["rare"] : [])],
    enabled: true,
    origin: "user" as const,
    owner,
    acl: [{ p: "g:soc", t: 1 }],
    access: ["1:admins", "1:g:soc", ...(n % 3 === 0 ? ["1:u:alice"] : []), ...[1, 2, 3].map((t) => `${t}:u:${owner}`)],
    etag: `e${n}`,
    request: _id,
    created_at: at,
    updated_at: at,
    instructions: "Answer what is asked. ".repeat(20),
  };
}

const NOTHING = { prompts: [], variables: [], custom_tools: [], mcp_servers: [], integrations: [] };

function agentOf(n: number, count: number, seed: string): Base {
  const own = { model: "", tools: ["cti/search_entities"], skills: [idOf(n, seed)], knowledge_bases: [], ...NOTHING };
  return { ...objectOf(n, count, seed), ...own } as Base;
}

function skillOf(n: number, count: number, seed: string): Base {
  return { ...objectOf(n, count, seed), name: `skill-${n}`, files: [{ path: "a.md", text: "text", bytes: 4 }] } as Base;
}

/** Every trace is of one agent; those of carl's agents are carl's to read. */
function traceOf(n: number, agent: string, seed: string): Base {
  const trace_id = nthTraceId(n, seed);
  const _id = `${trace_id}.bob`;
  const started_at = new Date(START + n * 1_000);
  return {
    _id,
    trace_id,
    user: "bob",
    agents: [agent],
    viewers: ["u:bob", `a:${agent}`],
    name: "invoke_agent a",
    root: "0000000000000001",
    fields: [{ field: "input", preview: "the question that was asked ".repeat(8), bytes: 4_000 }],
    sources: [n % 2 === 0 ? "even" : "odd"],
    models: ["m"],
    tools: ["t"],
    started_at,
    ended_at: new Date(started_at.getTime() + 500),
    order: `${started_at.toISOString()}.${_id}`,
    span_count: 3,
    error_count: n % 4 === 0 ? 1 : 0,
    ...(n % 4 === 0 && { failed: true }),
    input_tokens: 100,
    output_tokens: 20,
    batches: ["0123456789abcdef01234567"],
    expires_at: new Date(Date.now() + 24 * HOUR_MS),
  } as Base;
}

/** The id of the agent, or the skill, of a number. */
export function nthId(n: number, seed = "lists"): string {
  return idOf(n, seed);
}

/** The W3C id of the trace of a number. */
export function nthTraceId(n: number, seed = "lists"): string {
  return createHash("sha256").update(`${seed} trace ${n}`).digest("hex").slice(0, 32);
}

/** Where page 500 of 50 begins, or the last ten where there are fewer: what a page token of the list would hold. */
export function deep(count: number, seed = "lists"): string {
  return idOf(Math.max(10, count - 500 * 50), seed);
}
