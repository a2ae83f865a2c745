import type { MessageShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import {
  type InspectAgentTracesResponseSchema,
  TraceInspectionService,
  TraceStatus,
} from "#proto/traces/v1/trace_inspection_service_pb.js";
import { recordIdOf } from "../../../services/traces/trace-name.js";
import { as, type Rig } from "../core-objects/rig.js";
import { startTraces } from "./rig.js";
import { exportOf, newSpanId, newTraceId, type Sketch } from "./spans.js";

// Every filter, alone and with others, has what it should on its pages, each once and in order: whoever asks, and while
// others come and go.

interface Request {
  readonly targetAgentId?: string;
  readonly mine?: true;
  readonly source?: string;
  readonly model?: string;
  readonly agentName?: string;
  readonly status?: TraceStatus;
  readonly pageSize?: number;
}

/** A trace as it was sent. */
interface Sent {
  readonly id: string;
  readonly user: "alice" | "bob";
  readonly at: number;
  readonly agents: readonly string[];
  readonly external: boolean;
  readonly source: string;
  readonly model: string;
  readonly failed: boolean;
}

const COUNT = 240;
let rig: Rig;
/** Alice manages both, and bob can use the first of them. */
let agents: readonly string[];
/** One that bob manages. */
let bobs: string;
let sent: Sent[] = [];

beforeAll(async () => {
  rig = await startTraces();
  const create = async (who: string, sharing: { to: string; tier: Tier }[]) =>
    (await rig.dispatch.unary(AgentService.method.createAgent, { name: "paged", sharing }, as(who))).agent!.id;
  agents = [await create("alice", [{ to: "group:soc", tier: Tier.VIEW }]), await create("alice", [])];
  bobs = await create("bob", [{ to: "group:soc", tier: Tier.VIEW }]);
  const base = Date.now() - 3_600_000;
  const ids = Array.from({ length: COUNT }, newTraceId);
  for (const user of ["alice", "bob"] as const) {
    for (let n = 0; n < COUNT; n++) {
      const of = user === "bob" ? [agents[0]!, bobs] : [agents[n % 2]!, ...(n % 6 === 0 ? [bobs] : [])];
      const one: Sent = {
        id: recordIdOf(ids[n]!, user),
        user,
        // Many begin in the same moment, also those of two users.
        at: base + Math.floor(n / 8),
        agents: user === "bob" && n % 3 !== 0 ? of.slice(0, 1) : of,
        external: n % 10 === 3,
        source: `source ${n % 3}`,
        model: `model ${n % 4}`,
        failed: n % 5 === 0,
      };
      await send(one, ids[n]!);
      sent.push(one);
    }
  }
}, 60_000);
afterAll(() => rig.close());

async function send({ user, at, agents, external, source, model, failed }: Sent, trace: string): Promise<void> {
  const named = [...agents, ...(external ? ["another program's"] : [])];
  const spans = named.map((agent, i): Sketch => {
    const attributes = { "gen_ai.agent.id": agent, "gen_ai.request.model": model, "gen_ai.operation.name": "chat" };
    return { trace, id: newSpanId(), at: at + i, attributes, ...(failed && i === 0 && { error: "it failed" }) };
  });
  await rig.dispatch.unary(TraceService.method.export, exportOf(source, spans), as(user, "traces"));
}

/** The ids on all pages; `between` runs after each. */
async function listed(who: string, request: Request, between = async () => {}): Promise<string[]> {
  const ids: string[] = [];
  let pageToken: string | undefined = "";
  do {
    const method = TraceInspectionService.method.inspectAgentTraces;
    const page: MessageShape<typeof InspectAgentTracesResponseSchema> = await rig.dispatch.unary(
      method,
      { ...request, pageToken },
      as(who, "traces"),
    );
    expect(page.traces.length).toBeLessThanOrEqual(request.pageSize ?? 10);
    ids.push(...page.traces.map(({ id }) => id));
    pageToken = page.nextPageToken;
    await between();
  } while (pageToken !== undefined);
  return ids;
}

function expectedOf(who: string, asked: Request, some: readonly Sent[] = sent): string[] {
  const has = (wanted: string | undefined, values: readonly string[]) =>
    wanted === undefined || values.includes(wanted);
  const manages = (agent: string) => (agent === bobs ? who === "bob" : who === "alice");
  return some
    .filter(({ user, agents: of }) => who === "root" || user === who || of.every(manages))
    .filter((one) => has(asked.targetAgentId, one.agents) && has(asked.source, [one.source]))
    .filter((one) => has(asked.model, [one.model]) && (!asked.mine || one.user === who))
    .filter((one) => asked.agentName === undefined || one.external)
    .filter(({ failed }) => asked.status === undefined || failed === (asked.status === TraceStatus.ERROR))
    .toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
}

const FILTERS: readonly Request[] = [
  {},
  { source: "source 1" },
  { source: "no source" },
  { model: "model 2" },
  { status: TraceStatus.ERROR },
  { status: TraceStatus.OK },
  { agentName: "another program's" },
  { status: TraceStatus.ERROR, source: "source 2" },
  { source: "source 0", model: "model 3", status: TraceStatus.OK },
  { agentName: "another program's", model: "model 1" },
];

test("every filter has what it should, for who may see it", async () => {
  const asked: [who: string, request: Request][] = [
    ["root", {}],
    ["root", { targetAgentId: agents[0]! }],
    ["alice", { targetAgentId: agents[0]! }],
    ["alice", { targetAgentId: agents[1]! }],
    ["bob", { targetAgentId: bobs }],
    ["bob", { mine: true }],
    ["alice", { mine: true, targetAgentId: bobs }],
  ];
  let rows = 0;
  for (const [who, request] of asked) {
    for (const filter of FILTERS) {
      for (const pageSize of [7, 100]) {
        const all = { ...request, ...filter, pageSize };
        const ids = await listed(who, all);
        expect(ids, JSON.stringify([who, all])).toEqual(expectedOf(who, all));
        rows += ids.length;
      }
    }
  }
  expect(rows).toBeGreaterThan(5_000);
}, 60_000);

test("while spans come and traces go, those that stay are on the pages once each and in order", async () => {
  const base = Math.min(...sent.map(({ at }) => at));
  for (const [who, request] of [
    ["alice", { targetAgentId: agents[0]!, source: "source 1" }],
    ["root", { status: TraceStatus.ERROR, model: "model 0" }],
    ["bob", { mine: true, model: "model 1", source: "source 2" }],
  ] as const) {
    const asked = { ...request, pageSize: 4 };
    const gone = new Set<string>();
    const come = new Set<string>();
    const before = expectedOf(who, asked);
    let n = 0;
    const ids = await listed(who, asked, async () => {
      // The last of the list, which no page has shown yet, one among the others, and a new one that begins with them.
      for (const id of [before.at(-1 - n), before[(n * 13) % before.length]].slice(0, n < 3 ? 2 : 0)) {
        if (id === undefined) continue;
        gone.add(id);
        await rig.store.collection("traces").deleteOne({ _id: id });
      }
      const trace = newTraceId();
      const one = { ...sent.find(({ id }) => id === before[0])!, id: "", at: base + ((n * 7) % 30) };
      come.add(recordIdOf(trace, one.user));
      await send(one, trace);
      n++;
    });
    expect(new Set(ids).size).toBe(ids.length);
    expect(gone.size).toBeGreaterThan(3);
    expect(ids.filter((id) => !come.has(id) && !gone.has(id))).toEqual(before.filter((id) => !gone.has(id)));
    expect(ids).not.toContain(before.at(-1));
    sent = sent.filter(({ id }) => !gone.has(id));
  }
}, 60_000);
