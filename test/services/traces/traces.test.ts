import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import {
  type GetTracePayloadRequestSchema,
  type InspectAgentTracesRequestSchema,
  Period,
  TraceInspectionService,
  TraceStatus,
} from "#proto/traces/v1/trace_inspection_service_pb.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { createTracesService } from "../../../services/traces/service.js";
import { idsOf } from "../../../services/traces/span-list.js";
import type { ListRecord } from "../../../services/traces/store.js";
import { recordIdOf } from "../../../services/traces/trace-name.js";
import { as, type Rig, startRig } from "../core-objects/rig.js";
import { startTraces } from "./rig.js";
import { exportOf, newSpanId, newTraceId, type Sketch } from "./spans.js";

let rig: Rig;
beforeAll(async () => {
  rig = await startTraces();
});
afterAll(() => rig.close());

const send = (who: string, source: string, spans: readonly Sketch[]) =>
  rig.dispatch.unary(TraceService.method.export, exportOf(source, spans), as(who, "traces"));
const inspect = (who: string, request: MessageInitShape<typeof InspectAgentTracesRequestSchema> = {}) =>
  rig.dispatch.unary(TraceInspectionService.method.inspectAgentTraces, request, as(who, "traces"));
const payload = (who: string, request: MessageInitShape<typeof GetTracePayloadRequestSchema>) =>
  rig.dispatch.unary(TraceInspectionService.method.getTracePayload, request, as(who, "traces"));

async function newAgent(who: string, sharing: { to: string; tier: Tier }[] = []): Promise<string> {
  const request = { name: `${who}'s agent`, sharing };
  return (await rig.dispatch.unary(AgentService.method.createAgent, request, as(who))).agent!.id;
}
const sourcesSeenBy = async (who: string, request = {}) =>
  (await inspect(who, { pageSize: 100, ...request })).traces.map(({ source }) => source);

async function refusal(call: Promise<unknown>): Promise<[string, string]> {
  const error = ConnectError.from(
    await call.then(
      () => new Error("nothing was refused"),
      (reason) => reason,
    ),
  );
  return [Code[error.code]!, error.rawMessage];
}

test("spans of a trace add up to its summary, whatever order and batches they come in", async () => {
  const trace = newTraceId();
  const root = newSpanId();
  const at = Date.now() - 1000;
  await send("alice", "sum", [
    {
      trace,
      parent: root,
      name: "chat m",
      at: at + 10,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
      },
    },
    {
      trace,
      parent: root,
      name: "execute_tool lookup",
      at: at + 40,
      error: "refused",
      attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup" },
    },
  ]);
  await send("alice", "sum", [
    {
      trace,
      id: root,
      name: "invoke_agent a",
      at,
      ms: 500,
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.input.messages": "the question",
        "gen_ai.output.messages": "the answer",
      },
    },
  ]);
  const { traces, totalSize } = await inspect("root", { source: "sum" });
  expect(totalSize).toBe(1);
  expect(traces[0]).toMatchObject({
    id: expect.stringMatching(new RegExp(`^${trace}\\.`)),
    name: "invoke_agent a",
    status: TraceStatus.ERROR,
    durationMs: 500,
    user: { id: "alice" },
    models: ["m"],
    tools: ["lookup"],
    inputTokens: 100,
    outputTokens: 20,
    spanCount: 3,
    errorCount: 1,
  });
  expect(traces[0]!.startedAt).toEqual(timestampFromMs(at));
  expect(traces[0]!.fields.map(({ field, preview }) => [field, preview])).toEqual([
    ["input", "the question"],
    ["output", "the answer"],
  ]);
  const { spans } = await inspect("alice", { traceId: trace });
  expect(spans.map(({ name, tool, status }) => [name, tool, status])).toEqual([
    ["invoke_agent a", "", TraceStatus.OK],
    ["chat m", "", TraceStatus.OK],
    ["execute_tool lookup", "lookup", TraceStatus.ERROR],
  ]);
});

test("of spans that begin in the same moment, the outermost comes first and then what lasted longest", async () => {
  const trace = newTraceId();
  const parent = newSpanId();
  const at = Date.now();
  const children = [3, 9, 6].map((ms) => ({ trace, parent, at, ms, name: `${ms} ms` }));
  await send("alice", "ties", [...children, { trace, id: parent, at, ms: 1, name: "outermost" }]);
  const { spans } = await inspect("alice", { traceId: trace });
  expect(spans.map(({ name }) => name)).toEqual(["outermost", "9 ms", "6 ms", "3 ms"]);
});

test("a delivery that is repeated, also at the same time, is counted once", async () => {
  const spans = [{ trace: newTraceId(), id: newSpanId(), attributes: { "gen_ai.usage.input_tokens": 7 } }];
  await Promise.all([send("alice", "again", spans), send("alice", "again", spans)]);
  await send("alice", "again", spans);
  const [trace] = (await inspect("root", { source: "again" })).traces;
  expect(trace).toMatchObject({ spanCount: 1, inputTokens: 7 });
});

test("the same delivery at the same time is listed once, and spans of an overlapping one are kept as they were", async () => {
  const trace = newTraceId();
  const spans = Array.from({ length: 3 }, (_, n) => ({
    trace,
    id: newSpanId(),
    name: `n${n}`,
    at: Date.now() - 9_000 + n,
  }));
  await Promise.all([1, 2, 3, 4].map(() => send("alice", "overlap", spans)));
  const lists = rig.store.collection<ListRecord>("span_lists");
  const listed = async () => {
    const found = await lists.find({ _id: idsOf(recordIdOf(trace, "alice")) }).toArray();
    return found.flatMap(({ segments, span_count }) => [span_count, segments.length]);
  };
  expect(await listed()).toEqual([3, 1]);
  const later = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => ({
      trace,
      id: newSpanId(),
      name: `n${from + n}`,
      at: Date.now() - 900 + from + n,
    }));
  const many = [{ ...spans[1]!, name: "changed" }, ...later(3, 16)];
  expect((await send("alice", "overlap", many)).partialSuccess).toBeUndefined();
  expect(await listed()).toEqual([19, 2]);
  // One new span among many that are there is no segment: a list of thousands would be read for each span.
  const one = later(19, 1);
  for (const again of [
    [...many, ...one],
    [...many, ...one],
  ])
    expect((await send("alice", "overlap", again)).partialSuccess).toBeUndefined();
  expect(await listed()).toEqual([19, 2]);
  const page = await inspect("alice", { traceId: trace, pageSize: 50 });
  expect(page.spans.map(({ name }) => name)).toEqual(Array.from({ length: 20 }, (_, n) => `n${n}`));
});

test("spans that cannot be taken are counted and explained, the others are kept", async () => {
  const zero = "0".repeat(32);
  const { partialSuccess } = await send("alice", "partial", [{}, { trace: zero }, { id: "00" }, { at: 0 }]);
  expect(partialSuccess?.rejectedSpans).toBe(3n);
  expect(partialSuccess?.errorMessage).toContain("trace_id");
  expect(partialSuccess?.errorMessage).toContain("span_id");
  expect(partialSuccess?.errorMessage).toContain("start time");
  expect(await sourcesSeenBy("root", { source: "partial" })).toEqual(["partial"]);
  expect((await send("alice", "nothing", [])).partialSuccess).toBeUndefined();
  const many = await send(
    "alice",
    "many",
    Array.from({ length: 4100 }, () => ({ trace: "ab".repeat(16) })),
  );
  expect(many.partialSuccess?.rejectedSpans).toBe(4n);
});

test("spans dated before what is kept, or more than half a day ahead, are refused and the others kept", async () => {
  const now = Date.now();
  const day = 86_400_000;
  const at = [now - 61 * day, now - 59 * day, now + 0.4 * day, now + 0.6 * day, now, 18_446_744_073_000];
  const sketches = at.map((time, n) => ({ at: time, name: `n${n}`, ...(n === 4 && { ms: day }) }));
  const { partialSuccess } = await send("alice", "dated", sketches);
  expect(partialSuccess?.rejectedSpans).toBe(4n);
  expect(partialSuccess?.errorMessage).toBe(
    "a span began more than 60 days ago, and spans are kept for 60 days; " +
      "a span is dated more than 12 hours ahead; set the clock of the sender",
  );
  const { traces } = await inspect("root", { source: "dated", period: Period.ALL });
  expect(traces.map(({ name }) => name)).toEqual(["n2", "n1"]);
});

test("spans without an agent are read by their sender, by id, and administrators alone", async () => {
  const trace = newTraceId();
  await send("alice", "private", [{ trace }]);
  expect(await sourcesSeenBy("root", { source: "private" })).toEqual(["private"]);
  for (const who of ["alice", "root"]) expect(await sourcesSeenBy(who, { traceId: trace })).toEqual(["private"]);
  expect((await refusal(inspect("bob", { traceId: trace })))[0]).toBe("NotFound");
});

test("a user who sends spans lists them without an agent, and no spans of others", async () => {
  const [first, second] = [newTraceId(), newTraceId()];
  await send("carl", "carls", [{ trace: first }]);
  await send("carl", "carls-failed", [{ trace: second, attributes: { "gen_ai.agent.id": await newAgent("alice") } }]);
  const mine = { mine: true, pageSize: 100 };
  expect((await sourcesSeenBy("carl", mine)).sort()).toEqual(["carls", "carls-failed"]);
  expect(await sourcesSeenBy("carl", { ...mine, source: "carls" })).toEqual(["carls"]);
  expect(await sourcesSeenBy("bob", mine)).not.toContain("carls");
  expect(await sourcesSeenBy("root", mine)).not.toContain("carls");
  const agent = await newAgent("carl");
  await send("carl", "of-own", [{ attributes: { "gen_ai.agent.id": agent } }]);
  expect(await sourcesSeenBy("carl", { ...mine, targetAgentId: agent })).toEqual(["of-own"]);
});

test("agents of other programs are in lists by their names, and a filter", async () => {
  await send("alice", "external", [
    { attributes: { "gen_ai.agent.name": "Triage bot", "gen_ai.operation.name": "invoke_agent" } },
  ]);
  await send("alice", "external", [{ attributes: { "gen_ai.agent.id": "asst_1", "gen_ai.operation.name": "chat" } }]);
  const agent = await newAgent("alice");
  await send("alice", "external", [{ attributes: { "gen_ai.agent.id": agent, "gen_ai.agent.name": "Own" } }]);
  const { traces } = await inspect("alice", { mine: true, source: "external" });
  expect(traces.map(({ agents }) => agents.map(({ id, name }) => id ?? name))).toEqual([
    [agent],
    ["asst_1"],
    ["Triage bot"],
  ]);
  const named = await inspect("alice", { mine: true, agentName: "Triage bot" });
  expect(named.traces.map(({ agents }) => agents)).toMatchObject([[{ name: "Triage bot" }]]);
  expect((await inspect("root", { agentName: "Triage bot" })).traces).toHaveLength(1);
  expect((await inspect("alice", { mine: true, agentName: "Own" })).traces).toEqual([]);
});

test("a listing that names no agent is refused to all but administrators, with agents to ask for", async () => {
  const why = "only administrators can list the traces of all agents";
  const own = "to list the traces that you sent and those of your runs, set mine";
  expect(await refusal(inspect("reader"))).toEqual(["PermissionDenied", `${why}, and you manage no agent; ${own}`]);
  const give = [{ to: "user:reader", tier: Tier.MANAGE }];
  const hers = await newAgent("alice", give);
  const said = `${why}; give target_agent_id. You manage ${hers} ("alice's agent")`;
  expect(await refusal(inspect("reader", { source: "any" }))).toEqual(["PermissionDenied", `${said}; ${own}`]);
  for (let n = 0; n < 10; n++) await newAgent("alice", give);
  const [, many] = await refusal(inspect("reader"));
  expect(many.match(/\("alice's agent"\)/g)).toHaveLength(10);
  expect(many).toContain("list_agents shows the others, those with your_access manage");
  expect((await inspect("reader", { targetAgentId: hers })).traces).toEqual([]);
  expect((await inspect("root")).traces.length).toBeGreaterThan(0);
});

test("an agent's traces are listed by those who can manage it and by no others", async () => {
  const agent = await newAgent("alice", [
    { to: "user:bob", tier: Tier.CONFIG },
    { to: "user:reader", tier: Tier.MANAGE },
  ]);
  await send("bob", "of-agent", [{ attributes: { "gen_ai.agent.id": agent } }]);
  const request = { targetAgentId: agent };
  for (const who of ["alice", "reader", "root"]) expect(await sourcesSeenBy(who, request)).toEqual(["of-agent"]);
  expect((await refusal(inspect("bob", request)))[0]).toBe("PermissionDenied");
  expect(await refusal(inspect("carl", request))).toEqual([
    "NotFound",
    `no agent that you can see has the id ${agent}; list_agents returns the ids`,
  ]);
  const [trace] = (await inspect("alice", request)).traces;
  expect(trace?.agents).toMatchObject([{ id: agent }]);
  for (const traceId of [trace!.id, trace!.id.split(".")[0]!]) {
    for (const who of ["alice", "reader", "root", "bob"]) {
      expect(await sourcesSeenBy(who, { traceId })).toEqual(["of-agent"]);
      expect((await payload(who, { traceId, field: "resource.service.name" })).text).toBe("of-agent");
    }
    expect(await sourcesSeenBy("bob", { traceId, targetAgentId: agent })).toEqual(["of-agent"]);
    expect((await refusal(inspect("bob", { traceId, targetAgentId: "another" })))[0]).toBe("NotFound");
    expect((await refusal(inspect("carl", { traceId })))[0]).toBe("NotFound");
    expect((await refusal(payload("carl", { traceId, field: "resource.service.name" })))[0]).toBe("NotFound");
  }
});

test("a trace of several agents is read only by those who can manage them all, and by its sender", async () => {
  const mine = await newAgent("alice");
  const theirs = await newAgent("carl", [{ to: "user:alice", tier: Tier.VIEW }]);
  const trace = newTraceId();
  const spans = [mine, theirs].map((id) => ({ trace, attributes: { "gen_ai.agent.id": id } }));
  const both = await newAgent("bob", [{ to: "everyone", tier: Tier.MANAGE }]);
  await send("alice", "several", spans);
  expect(await sourcesSeenBy("carl", { targetAgentId: theirs })).toEqual([]);
  expect((await refusal(inspect("carl", { traceId: trace })))[0]).toBe("NotFound");
  expect(await sourcesSeenBy("alice", { targetAgentId: mine })).toEqual(["several"]);
  const open = newTraceId();
  await send(
    "carl",
    "open",
    [theirs, both].map((id) => ({ trace: open, attributes: { "gen_ai.agent.id": id } })),
  );
  expect(await sourcesSeenBy("bob", { targetAgentId: both })).toEqual([]);
  expect(await sourcesSeenBy("carl", { targetAgentId: theirs })).toEqual(["open"]);
  expect(await sourcesSeenBy("carl", { traceId: open })).toEqual(["open"]);
});

test("naming an agent that one cannot use does not put spans into its traces", async () => {
  const agent = await newAgent("alice");
  const trace = newTraceId();
  await send("carl", "forged", [{ trace, attributes: { "gen_ai.agent.id": agent } }]);
  expect(await sourcesSeenBy("alice", { targetAgentId: agent })).toEqual([]);
  expect((await refusal(inspect("alice", { traceId: trace })))[0]).toBe("NotFound");
  expect(await sourcesSeenBy("carl", { traceId: trace })).toEqual(["forged"]);
});

test("a trace is of a hundred agents at most, since who reads it manages them all", async () => {
  const own = await Promise.all(Array.from({ length: 101 }, () => newAgent("bob")));
  const trace = newTraceId();
  const of = (ids: readonly string[]) => ids.map((id) => ({ trace, attributes: { "gen_ai.agent.id": id } }));
  expect((await send("bob", "crowd", of(own))).partialSuccess).toMatchObject({
    rejectedSpans: 101n,
    errorMessage: "a trace can have at most 100 agents",
  });
  expect((await send("bob", "crowd", of(own.slice(0, 60)))).partialSuccess).toBeUndefined();
  expect((await send("bob", "crowd", of(own.slice(50)))).partialSuccess?.rejectedSpans).toBe(51n);
  const [row] = (await inspect("bob", { traceId: trace })).traces;
  expect([row?.agents.length, row?.moreNames]).toEqual([10, 50]);
});

test("another user's trace id neither opens nor changes a trace", async () => {
  const trace = newTraceId();
  const id = newSpanId();
  await send("alice", "hers", [{ trace, id, name: "hers", attributes: { secret: "s" } }]);
  await send("carl", "his", [{ trace, id, name: "his" }]);
  const seen = await inspect("carl", { traceId: trace });
  expect(seen.traces.map(({ source }) => source)).toEqual(["his"]);
  expect((await refusal(payload("carl", { traceId: trace, field: "attributes.secret" })))[0]).toBe("NotFound");
  expect((await inspect("alice", { traceId: trace })).spans.map(({ name }) => name)).toEqual(["hers"]);
  const parts = await inspect("root", { traceId: trace });
  expect(parts.traces.map(({ user }) => user?.id).sort()).toEqual(["alice", "carl"]);
  expect(parts.spans).toEqual([]);
  expect((await refusal(payload("root", { traceId: trace, field: "attributes.secret" })))[0]).toBe("InvalidArgument");
  const hers = parts.traces.find(({ user }) => user?.id === "alice")!;
  expect((await payload("root", { traceId: hers.id, field: "attributes.secret" })).text).toBe("s");
});

test("lists are filtered by period, status, source and model, and paged to the end", async () => {
  const now = Date.now();
  const model = { "gen_ai.request.model": "paged-model" };
  for (let n = 0; n < 5; n++) {
    await send("carl", "paged", [
      { at: now - n * 1000, name: `n${n}`, attributes: model, ...(n === 2 && { error: "x" }) },
    ]);
  }
  await send("carl", "paged", [{ at: now - 3 * 3_600_000, name: "old", attributes: model }]);
  await send("carl", "paged", [{ at: now - 40 * 86_400_000, name: "ancient", attributes: model }]);
  const names = async (request: MessageInitShape<typeof InspectAgentTracesRequestSchema>) => {
    const seen: string[] = [];
    let pageToken: string | undefined = "";
    do {
      const page = await inspect("root", { source: "paged", ...request, pageSize: 2, pageToken });
      seen.push(...page.traces.map(({ name }) => name));
      pageToken = page.nextPageToken;
    } while (pageToken !== undefined);
    return seen.join(" ");
  };
  expect(await names({})).toBe("n0 n1 n2 n3 n4 old");
  expect(await names({ period: Period.LAST_HOUR })).toBe("n0 n1 n2 n3 n4");
  expect(await names({ period: Period.ALL })).toBe("n0 n1 n2 n3 n4 old ancient");
  expect(await names({ status: TraceStatus.ERROR })).toBe("n2");
  expect(await names({ status: TraceStatus.OK, period: Period.LAST_HOUR })).toBe("n0 n1 n3 n4");
  expect(await names({ model: "other" })).toBe("");
  const between = { startedAfter: timestampFromMs(now - 3000), startedBefore: timestampFromMs(now - 1000) };
  expect(await names(between)).toBe("n2 n3");
  const backwards = { startedAfter: timestampFromMs(now), startedBefore: timestampFromMs(now - 1) };
  expect((await refusal(inspect("root", backwards)))[0]).toBe("InvalidArgument");
  expect((await refusal(inspect("root", { pageToken: "nonsense" })))[0]).toBe("InvalidArgument");
});

test("the one failed trace among many is on the first page", async () => {
  const agent = await newAgent("carl");
  const attributes = { "gen_ai.agent.id": agent };
  const at = Date.now() - 60_000;
  for (let from = 0; from < 600; from += 100) {
    const spans = Array.from({ length: 100 }, (_, n) => ({ at: at + from + n, name: "fine", attributes }));
    await send("carl", "many", spans);
  }
  await send("carl", "many", [{ at: at - 1, name: "failed", attributes, error: "x" }]);
  const page = await inspect("carl", { targetAgentId: agent, status: TraceStatus.ERROR, pageSize: 1 });
  expect([page.traces.map(({ name }) => name), page.totalSize]).toEqual([["failed"], 1]);
});

test("previews are bounded and say what is missing; the payload is read whole, page by page", async () => {
  const text = "наблюдение 🛰️ ".repeat(5_000);
  const id = newSpanId();
  await send("alice", "large", [{ id, attributes: { "gen_ai.input.messages": text } }]);
  const [trace] = (await inspect("root", { source: "large" })).traces;
  const [field] = trace!.fields;
  expect(field).toMatchObject({ field: "input", bytes: Buffer.byteLength(text), truncated: true });
  expect([...field!.preview]).toHaveLength(200);
  expect(text.startsWith(field!.preview)).toBe(true);
  const short = await inspect("root", { source: "large", previewChars: 11 });
  expect(short.traces[0]!.fields[0]!.preview).toBe("наблюдение ");

  for (const name of ["input", "attributes.gen_ai.input.messages"]) {
    const first = await payload("alice", { traceId: trace!.id, spanId: id, field: name });
    expect(first).toMatchObject({ page: 1, totalBytes: Buffer.byteLength(text), json: false });
    const pages = Array.from({ length: first.pageCount }, (_, i) =>
      payload("alice", { traceId: trace!.id, field: name, page: i + 1 }),
    );
    expect((await Promise.all(pages)).map((page) => page.text).join("")).toBe(text);
  }
  const [code, message] = await refusal(payload("alice", { traceId: trace!.id, field: "nothing" }));
  expect([code, message]).toEqual(["NotFound", expect.stringContaining("input, attributes.gen_ai.input.messages")]);
});

test("each of many fields is read whole, wherever it is kept", async () => {
  const texts = Object.fromEntries(
    [0, 1, 20_000, 12_767, 1, 65_536, 3, 200_000, 65_530].map((length, n) => [
      `f${n}`,
      Array.from({ length }, (_, i) => String.fromCharCode(0x30 + ((i + n) % 70))).join("") + (n % 2 ? "я" : ""),
    ]),
  );
  const trace = newTraceId();
  await send("alice", "fields", [{ trace, attributes: texts }]);
  for (const [name, text] of Object.entries(texts)) {
    const about = { traceId: trace, field: `attributes.${name}`, pageBytes: 65_536 };
    const { pageCount, totalBytes } = await payload("alice", about);
    expect([name, totalBytes]).toEqual([name, Buffer.byteLength(text)]);
    const pages = Array.from({ length: pageCount }, (_, i) => payload("alice", { ...about, page: i + 1 }));
    expect((await Promise.all(pages)).map((page) => page.text).join("") === text).toBe(true);
  }
  const past = { traceId: trace, field: "attributes.f7", pageBytes: 65_536, page: 5 };
  expect((await refusal(payload("alice", past)))[0]).toBe("InvalidArgument");
});

test("different batches that begin a trace at the same time are all counted", async () => {
  const trace = newTraceId();
  await Promise.all(Array.from({ length: 8 }, () => send("alice", "racing", [{ trace }, { trace }])));
  expect((await inspect("root", { source: "racing" })).traces[0]).toMatchObject({ spanCount: 16 });
});

const KEPT = ["traces", "span_segments", "span_lists", "spans", "span_payloads", "span_pages"];

test("what is past its retention is read no more, and the embedded store deletes it", async () => {
  const short = await startRig({ sweepEveryMs: 20 });
  try {
    const { store, peers } = short;
    short.add(await createTracesService({ store, peers, log: silentLog, retentionDays: 0 }));
    // A span that has just ended is older than no days at all.
    const long = { text: "x".repeat(100_000) };
    const soon = exportOf("gone", [{ at: Date.now() + 3_600_000, attributes: long }, { at: Date.now() + 3_600_000 }]);
    const { partialSuccess } = await short.dispatch.unary(TraceService.method.export, soon, as("alice", "traces"));
    expect(partialSuccess).toBeUndefined();
    const method = TraceInspectionService.method.inspectAgentTraces;
    expect((await short.dispatch.unary(method, {}, as("root", "traces"))).totalSize).toBe(0);
    // MongoDB deletes once a minute, in its own time.
    if (process.env.MONGODB_URI !== undefined) return;
    const left = async () => Promise.all(KEPT.map((name) => store.collection(name).countDocuments({})));
    await expect.poll(left).toEqual(KEPT.map(() => 0));
  } finally {
    await short.close();
  }
});

test("a trace shows the input of the first span that has one, whatever order and batches they come in", async () => {
  const at = Date.now() - 1_000;
  const [root, early, late] = [newSpanId(), newSpanId(), newSpanId()];
  const input = (text: string) => ({ "gen_ai.input.messages": text });
  const spansOf = (trace: string): readonly Sketch[] => [
    { trace, id: late, parent: root, name: "chat m", at: at + 20, attributes: input("the second question") },
    { trace, id: root, name: "invoke_agent a", at },
    { trace, id: early, parent: root, name: "chat m", at: at + 10, attributes: input("the first question") },
  ];
  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
  ]) {
    const trace = newTraceId();
    const spans = spansOf(trace);
    for (const n of order) await send("alice", "first-input", [spans[n] as Sketch]);
    const { traces } = await inspect("root", { source: "first-input", pageSize: 100 });
    const row = traces.find(({ id }) => id.startsWith(trace));
    expect(row?.fields.map(({ field, preview }) => [field, preview])).toEqual([["input", "the first question"]]);
    expect((await payload("alice", { traceId: trace, field: "input" })).text).toBe("the first question");
    expect((await payload("alice", { traceId: trace, spanId: late, field: "input" })).text).toBe("the second question");
  }
});

test("the outermost span's own input comes before any other", async () => {
  const trace = newTraceId();
  const root = newSpanId();
  const at = Date.now() - 1_000;
  await send("alice", "own-input", [
    { trace, parent: root, at: at - 10, attributes: { "gen_ai.input.messages": "another's" } },
    { trace, id: root, at, attributes: { "gen_ai.input.messages": "its own" } },
  ]);
  const { traces } = await inspect("root", { source: "own-input" });
  expect(traces[0]?.fields.map(({ preview }) => preview)).toEqual(["its own"]);
  expect((await payload("alice", { traceId: trace, field: "input" })).text).toBe("its own");
});
