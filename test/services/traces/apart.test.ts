import { toBinary, toJsonString } from "@bufbuild/protobuf";
import { Code, type ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import {
  type ExportTraceServiceRequest,
  ExportTraceServiceRequestSchema,
  TraceService,
} from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { TraceInspectionService } from "#proto/traces/v1/trace_inspection_service_pb.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { boundsOf, MAX_EXPORT_BYTES } from "../../../services/shared/rpc/bounds.js";
import type { Call, Caller } from "../../../services/shared/rpc/call.js";
import { type RpcServer, serveConnect } from "../../../services/shared/rpc/connect.js";
import { connectRemote } from "../../../services/shared/rpc/remote.js";
import { type Unread, unreadMessage } from "../../../services/shared/rpc/unread.js";
import { type Apart, type ApartOptions, createApart } from "../../../services/traces/apart.js";
import { SPAN_QUOTA } from "../../../services/traces/quota.js";
import { createTracesService } from "../../../services/traces/service.js";
import { COLLECTIONS } from "../../../services/traces/store.js";
import { as, authenticatorFor, type Rig, startRig } from "../core-objects/rig.js";
import { exportOf, newTraceId, type Sketch } from "./spans.js";

// Exports that are longer than what the serving loop reads: two threads read and keep them.

let rig: Rig;
let server: RpcServer;
const opened: Apart[] = [];

beforeAll(async () => {
  rig = await startRig();
  const { store, peers } = rig;
  const traces = await createTracesService({ store, peers, log: silentLog, retentionDays: 30 });
  rig.add(traces);
  const steps = { authenticator: authenticatorFor("traces"), log: silentLog };
  const methods = traces.methods.map((method) => ({ method, steps }));
  server = await serveConnect({ host: "127.0.0.1", port: 0, methods });
});
afterAll(async () => {
  await server.close(1_000);
  for (const one of opened) await one.close();
  await rig.close();
});

const SCHEMA = ExportTraceServiceRequestSchema;
const encoded = (request: ExportTraceServiceRequest): Unread => ({
  bytes: toBinary(SCHEMA, request),
  encoding: "protobuf",
});
/** As the façade hands a long export on. */
const send = (request: ExportTraceServiceRequest, who = "alice") =>
  rig.dispatch.unary(TraceService.method.export, unreadMessage(SCHEMA, encoded(request)), as(who, "traces"));
const inspect = (who: string, request: object) =>
  rig.dispatch.unary(TraceInspectionService.method.inspectAgentTraces, request, as(who, "traces"));
const manyOf = (count: number, more: (n: number) => Sketch): Sketch[] =>
  Array.from({ length: count }, (_, n) => ({ name: `step ${n}`, ...more(n) }));

/** Threads of a test's own, with its bounds. */
function apartWith(bounds: Pick<ApartOptions, "slots" | "reading">): Apart {
  const place = rig.store.place(COLLECTIONS.map(({ name }) => name));
  const apart = createApart({ place, peers: rig.peers, retentionDays: 30, quota: SPAN_QUOTA, ...bounds });
  opened.push(apart);
  return apart;
}

function callOf(id: string, signal = new AbortController().signal): Call {
  const caller: Caller = {
    ...{ id, email: "", name: id, admin: false, groups: [], keyId: "", service: false },
  } as never;
  const scopes = new Set(["traces:write"]);
  return { credential: {}, signal, caller: { ...caller, scopes }, assertion: `${id}@traces` };
}

test("a thousand spans, each of a trace of its own, are kept whole; a repeated delivery changes nothing", async () => {
  const traces = Array.from({ length: 1_000 }, newTraceId);
  const delivery = exportOf(
    "apart",
    manyOf(traces.length, (n) => ({ trace: traces[n]!, attributes: { "input.value": `я ${n}` } })),
  );
  const before = await rig.store.collection("traces").countDocuments();
  expect((await send(delivery)).partialSuccess).toBeUndefined();
  // What was answered is there at once, in the loop that did not write it.
  expect(await rig.store.collection("traces").countDocuments()).toBe(before + traces.length);
  expect((await send(delivery)).partialSuccess).toBeUndefined();
  expect(await rig.store.collection("traces").countDocuments()).toBe(before + traces.length);
  for (const n of [0, 500, 999]) {
    const { traces: found, spans } = await inspect("alice", { traceId: traces[n]! });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ spanCount: 1, source: "apart" });
    expect(spans[0]?.fields[0]).toMatchObject({ field: "input", preview: `я ${n}` });
  }
});

test("a field of megabytes comes back as it was", async () => {
  const text = "\u043f\u0430\u043a\u0435\u0442 \ud83d\udef0 ".repeat(200_000);
  const trace = newTraceId();
  await send(exportOf("long", [{ trace, attributes: { "input.value": text } }]));
  const method = TraceInspectionService.method.getTracePayload;
  const { spans } = await inspect("alice", { traceId: trace });
  const about = { traceId: trace, spanId: spans[0]!.spanId, field: "input", pageBytes: 65_533 };
  const { pageCount } = await rig.dispatch.unary(method, about, as("alice", "traces"));
  const read: string[] = [];
  for (let page = 1; page <= pageCount; page++)
    read.push((await rig.dispatch.unary(method, { ...about, page }, as("alice", "traces"))).text);
  expect(read.join("") === text).toBe(true);
});

test("what cannot be taken is counted, spans of others' agents are nobody's, and those of usable ones are listed", async () => {
  const made = await rig.dispatch.unary(AgentService.method.createAgent, { name: "Apart" }, as("alice"));
  const agent = made.agent!.id;
  const [mine, theirs] = [newTraceId(), newTraceId()];
  const sketches = (trace: string): Sketch[] => [
    ...manyOf(300, () => ({ trace, attributes: { "gen_ai.agent.id": agent } })),
    { trace, at: Date.now() - 31 * 86_400_000 },
  ];
  const { partialSuccess } = await send(exportOf("gates", sketches(mine)));
  expect(partialSuccess).toMatchObject({ rejectedSpans: 1n });
  expect(partialSuccess?.errorMessage).toContain("a span began more than 30 days ago");
  await send(exportOf("gates", sketches(theirs)), "bob");
  const { traces } = await inspect("alice", { targetAgentId: agent });
  expect(traces.map(({ id, spanCount }) => [id.split(".")[0], spanCount])).toEqual([[mine, 300]]);
  await expect(inspect("alice", { traceId: theirs })).rejects.toMatchObject({ code: Code.NotFound });
});

test("over a socket the bytes pass unread, from one process of ours to the other too", async () => {
  const trace = newTraceId();
  const remote = connectRemote({ traces: `http://127.0.0.1:${server.port}` });
  const delivery = exportOf(
    "remote",
    manyOf(500, () => ({ trace })),
  );
  const out = as("alice", "traces");
  await remote.unary(TraceService.method.export, unreadMessage(SCHEMA, encoded(delivery)), out);
  expect((await inspect("alice", { traceId: trace })).traces[0]?.spanCount).toBe(500);

  const json: Unread = { bytes: Buffer.from(toJsonString(SCHEMA, delivery)), encoding: "json" };
  await expect(remote.unary(TraceService.method.export, unreadMessage(SCHEMA, json), out)).rejects.toMatchObject({
    code: Code.Unimplemented,
  });
});

const asJson = (delivery: ExportTraceServiceRequest) => toJsonString(SCHEMA, delivery);
test.each([
  ["protobuf", "application/proto", (one: ExportTraceServiceRequest) => toBinary(SCHEMA, one), 200],
  ["JSON", "application/json", asJson, 200],
  [
    "JSON with a name twice",
    "application/json",
    (one: ExportTraceServiceRequest) => asJson(one).replace('"name":', '"name":"twice","name":'),
    400,
  ],
  ["JSON of another shape", "application/json", () => `{"resourceSpans":[${" ".repeat(5_000)}3]}`, 400],
])("a long export over Connect: %s", async (_, type, written, status) => {
  const trace = newTraceId();
  const delivery = exportOf(
    "connect",
    manyOf(100, () => ({ trace })),
  );
  const reply = await fetch(`http://127.0.0.1:${server.port}/${TraceService.typeName}/Export`, {
    method: "POST",
    headers: { "content-type": type, authorization: "Bearer key-alice" },
    body: written(delivery) as string,
  });
  expect(reply.status, await reply.text()).toBe(status);
  const found = await inspect("root", { traceId: trace }).catch(() => undefined);
  expect(found?.traces[0]?.spanCount).toBe(status === 200 ? 100 : undefined);
});

test("what is no export is refused in words, and what is made of too much", async () => {
  const half: Unread = { bytes: Buffer.alloc(8_192, 0x0a), encoding: "protobuf" };
  const apart = apartWith({});
  await expect(apart.keep(half, callOf("alice"))).rejects.toMatchObject({ code: Code.InvalidArgument });
  const { elements } = boundsOf(SCHEMA);
  const empty = Buffer.alloc(2 * elements + 2);
  for (let i = 0; i < empty.length; i += 2) empty[i] = 0x0a;
  await expect(apart.keep({ bytes: empty, encoding: "protobuf" }, callOf("alice"))).rejects.toMatchObject({
    code: Code.ResourceExhausted,
  });
});

test.each([
  ["memory", { megabytes: 16, ms: 60_000 }],
  ["seconds", { megabytes: 512, ms: 20 }],
])(
  "an export that takes too much %s ends the thread and is refused; what comes after it is kept",
  async (what, reading) => {
    const apart = apartWith({ reading });
    const dear = exportOf(
      "dear",
      manyOf(4_096, () => ({ attributes: { a: "x".repeat(3_000) } })),
    );
    const refused = (await apart.keep(encoded(dear), callOf("alice")).catch((error: unknown) => error)) as ConnectError;
    expect(refused.code).toBe(Code.InvalidArgument);
    expect(refused.rawMessage).toMatch(new RegExp(`takes (?:too much|more than [\\d.]+) ${what}`));
    expect(refused.rawMessage).toContain("send fewer spans at once");

    const trace = newTraceId();
    await rig.dispatch.unary(TraceService.method.export, exportOf("small", [{ trace }]), as("alice", "traces"));
    expect((await inspect("alice", { traceId: trace })).traces[0]?.spanCount).toBe(1);
    // One of the same sender that is read in time is kept by the thread that takes the place.
    if (what === "memory") {
      const rejects = await apart.keep(
        encoded(
          exportOf(
            "next",
            manyOf(64, () => ({ trace })),
          ),
        ),
        callOf("alice"),
      );
      expect(rejects.count).toBe(0);
      expect((await inspect("alice", { traceId: trace })).traces[0]?.spanCount).toBe(65);
    }
  },
  60_000,
);

test("more than may wait is refused with when to send it again: of one sender, and of all", async () => {
  const slots = { perHolder: 2, bytesPerHolder: MAX_EXPORT_BYTES, total: 3, bytes: MAX_EXPORT_BYTES };
  const apart = apartWith({ slots });
  const one = () =>
    encoded(
      exportOf(
        "queue",
        manyOf(200, () => ({})),
      ),
    );
  const kept = [apart.keep(one(), callOf("alice")), apart.keep(one(), callOf("alice"))];
  const third = (await apart.keep(one(), callOf("alice")).catch((error: unknown) => error)) as ConnectError;
  expect(third.code).toBe(Code.ResourceExhausted);
  expect(third.rawMessage).toMatch(/^too many of your exports/);
  expect(third.metadata.get("retry-after")).toBe("5");
  expect(third.details.map((detail) => ("type" in detail ? detail.type : ""))).toEqual(["google.rpc.RetryInfo"]);
  kept.push(apart.keep(one(), callOf("bob")));
  const another = (await apart.keep(one(), callOf("carl")).catch((error: unknown) => error)) as ConnectError;
  expect(another.rawMessage).toMatch(/^too many exports/);
  for (const { count } of await Promise.all(kept)) expect(count).toBe(0);
  expect((await apart.keep(one(), callOf("carl"))).count).toBe(0);
});

test("an export whose sender has left keeps no room; repeated, it is kept", async () => {
  const apart = apartWith({});
  const trace = newTraceId();
  const delivery = exportOf(
    "left",
    manyOf(300, () => ({ trace })),
  );
  const leaving = new AbortController();
  const keeping = apart.keep(encoded(delivery), callOf("alice", leaving.signal));
  leaving.abort();
  await expect(keeping).rejects.toMatchObject({ code: Code.Canceled });
  expect((await apart.keep(encoded(delivery), callOf("alice"))).count).toBe(0);
  expect((await inspect("alice", { traceId: trace })).traces[0]?.spanCount).toBe(300);
});
