import { randomBytes } from "node:crypto";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { SkillService } from "#proto/core/v1/skill_service_pb.js";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import type { Asker } from "./new-keys.js";
import type { Program } from "./program.js";

const AT_ONCE = 32;
const SPANS_AN_EXPORT = 500;

/** The longest pages there are, two of which look at all that a list looks at; no two ask the same, since pages are kept. */
const HEAVY = [
  (n: number) => ["list_agents", { page_size: 100, query: `nothing of that ${n}` }],
  (n: number) => ["list_skills", { page_size: 100, query: `object*${"*".repeat(n % 50)}` }],
  () => ["inspect_agent_traces", { page_size: 100, period: "all", source: "none" }],
] as const;

/** Makes so many agents, skills and traces, as the administrator. */
export async function putMany({ bootstrap }: Program, count: number): Promise<void> {
  const admin = { baseUrl: bootstrap.grpc_url, apiKey: bootstrap.admin.api_key };
  const [agents, skills] = [connectClient(AgentService, admin), connectClient(SkillService, admin)];
  const instructions = "Answer what is asked. ".repeat(20);
  for (let from = 0; from < count; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => from + i);
    await Promise.all(
      some.flatMap<Promise<unknown>>((n) => [
        agents.createAgent({ name: `object ${n}`, instructions }),
        skills.createSkill({ name: `object-${n}`, description: `object ${n}`, instructions }),
      ]),
    );
  }
  const traces = connectClient(TraceService, admin);
  for (let from = 0; from < count; from += SPANS_AN_EXPORT) {
    const at = BigInt(Date.now()) * 1_000_000n;
    const spans = Array.from({ length: Math.min(SPANS_AN_EXPORT, count - from) }, (_, i) => ({
      traceId: randomBytes(16),
      spanId: randomBytes(8),
      name: `span ${from + i}`,
      startTimeUnixNano: at,
      endTimeUnixNano: at + 1_000_000n,
    }));
    await traces.export({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
  }
}

/** Every key lists without a pause until the signal; what was answered, counted: 200, or the refusal's first words. */
export async function listHeavily(
  asker: Asker,
  keys: readonly string[],
  enough: AbortSignal,
): Promise<Readonly<Record<string, number>>> {
  const told: Record<string, number> = {};
  const list = async (key: string, first: number): Promise<void> => {
    for (let n = first; !enough.aborted; n++) {
      const [name, args] = HEAVY[n % HEAVY.length]!(n);
      const { status, text } = await asker.ask(key, "tools/call", { name, arguments: args });
      const good = status === 200 && text.includes('"structuredContent"') && !text.includes('"isError":true');
      const what = good ? "200" : `${status} ${text.slice(0, 200)}`;
      told[what] = (told[what] ?? 0) + 1;
    }
  };
  await Promise.all(keys.map(list));
  return told;
}
