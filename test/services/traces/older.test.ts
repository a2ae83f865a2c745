import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { ErasePersonalDataRequestSchema } from "#proto/traces/v1/personal_data_service_pb.js";
import { TraceInspectionService } from "#proto/traces/v1/trace_inspection_service_pb.js";
import { exportPage } from "../../../services/shared/personal/export-page.js";
import type { Call } from "../../../services/shared/rpc/call.js";
import type { CollectionSpec } from "../../../services/shared/store/store.js";
import type { Context } from "../../../services/traces/context.js";
import { erasePersonalData } from "../../../services/traces/personal/erase.js";
import { partsOf } from "../../../services/traces/personal/parts.js";
import {
  COLLECTIONS,
  openTraceStore,
  type PayloadRecord,
  type SpanRecord,
  type TraceRecord,
} from "../../../services/traces/store.js";
import { recordIdOf } from "../../../services/traces/trace-name.js";
import { as, type Rig } from "../core-objects/rig.js";
import { startTraces } from "./rig.js";
import { exportOf, newSpanId, newTraceId, type Sketch } from "./spans.js";

// A trace that the released version began: each span has documents of its own, and an order without the number of an event.

let rig: Rig;
const [traceId, first, second] = [newTraceId(), newSpanId(), newSpanId()];
const trace = recordIdOf(traceId, "alice");
const began = Date.now() - 60_000;
const expires_at = new Date(Date.now() + 60_000);

function olderSpan(id: string, at: number, says: string): [SpanRecord, PayloadRecord] {
  const digits = (n: bigint) => n.toString().padStart(20, "0");
  const nanos = BigInt(at) * 1_000_000n;
  const order = `${digits(nanos)}.0.${digits(2n ** 64n - nanos)}.${id}`;
  const span: SpanRecord = {
    ...{ _id: `${trace}.${id}`, trace, span_id: id, parent_span_id: "", name: says, operation: "chat", error: false },
    ...{ started_at: new Date(at), duration_ms: 0, order, agent_id: "", agent_name: "", model: "", tool: "" },
    ...{ input_tokens: 0, output_tokens: 0, field_count: 1, expires_at },
    fields: [{ field: "attributes.says", preview: says, bytes: says.length }],
  };
  return [span, { _id: span._id, fields: [{ field: "attributes.says", text: says, json: false }], expires_at }];
}

beforeAll(async () => {
  rig = await startTraces(30);
  const { store } = rig;
  const older = [olderSpan(first, began, "older 1"), olderSpan(second, began + 20, "older 2")];
  await store.collection<SpanRecord>("spans").insertMany(older.map(([span]) => span) as never);
  await store.collection<PayloadRecord>("span_payloads").insertMany(older.map(([, payload]) => payload) as never);
  await store.collection<TraceRecord>("traces").insertOne({
    ...{ _id: trace, trace_id: traceId, user: "alice", name: "older 1", root: first, fields: [], span_count: 2 },
    ...{ error_count: 0, input_tokens: 0, output_tokens: 0, batches: ["some"], expires_at },
    ...{ started_at: new Date(began), ended_at: new Date(began + 20) },
    order: `${new Date(began).toISOString()}.${trace}`,
  });
});
afterAll(() => rig.close());

const send = (spans: readonly Sketch[]) =>
  rig.dispatch.unary(TraceService.method.export, exportOf("older", spans), as("alice", "traces"));
const inspection = TraceInspectionService.method;

async function names(pageSize: number): Promise<string[]> {
  const seen: string[] = [];
  let pageToken = "";
  do {
    const request = { traceId, pageSize, pageToken };
    const page = await rig.dispatch.unary(inspection.inspectAgentTraces, request, as("alice", "traces"));
    seen.push(...page.spans.map(({ name }) => name));
    pageToken = page.nextPageToken ?? "";
  } while (pageToken !== "");
  return seen;
}
async function says(spanId: string): Promise<string> {
  const request = { traceId, spanId, field: "attributes.says" };
  return (await rig.dispatch.unary(inspection.getTracePayload, request, as("alice", "traces"))).text;
}

test("spans of the version before stay as they are, and are read in one order with what comes later", async () => {
  const later = newSpanId();
  const long = newSpanId();
  const come = [
    { trace: traceId, id: second, at: began + 20, name: "changed", attributes: { says: "changed" } },
    { trace: traceId, id: later, at: began + 10, name: "later 1", attributes: { says: "later" } },
    { trace: traceId, id: long, at: began + 30, name: "later 2", attributes: { says: "x".repeat(40_000) } },
    // Begun in the same moment as an older one, and outermost as that one is.
    { trace: traceId, id: newSpanId(), at: began + 20, ms: 0, name: "later 3" },
  ];
  for (let i = 0; i < 2; i++) expect((await send(come)).partialSuccess).toBeUndefined();
  for (const size of [1, 2, 3, 50]) {
    const read = await names(size);
    expect([read.length, new Set(read)]).toEqual([5, new Set(["older 1", "later 1", "older 2", "later 3", "later 2"])]);
    expect([read[0], read[1], read[4]]).toEqual(["older 1", "later 1", "later 2"]);
  }
  expect(await Promise.all([first, second, later].map(says))).toEqual(["older 1", "older 2", "later"]);
  expect((await says(long)).startsWith("xxx")).toBe(true);
});

test("what is exported of a person's spans is of both, page by page, and both are erased", async () => {
  const store = await openTraceStore(rig.store);
  const read = async () => {
    const records: { kind: string; said: Record<string, unknown> }[] = [];
    let [pageToken, pages] = ["", 0];
    do {
      const page = await exportPage(partsOf(store, "alice"), pageToken);
      records.push(...page.records.map(({ kind, json }) => ({ kind: kind!, said: JSON.parse(json!) })));
      pageToken = page.nextPageToken;
      pages++;
    } while (pageToken !== "");
    return { records, pages };
  };
  // Pages of what is long end a page of the export, and the next one goes on behind them.
  const big = { trace: traceId, at: began + 15, name: "big", attributes: { says: "y".repeat(600_000) } };
  expect((await send([big])).partialSuccess).toBeUndefined();
  const { records, pages } = await read();
  expect(pages).toBeGreaterThan(2);
  expect(records.filter(({ kind }) => kind === "trace")).toHaveLength(1);
  const spans = records.flatMap(({ kind, said }) => (kind === "span" ? [said] : []));
  const named = spans.filter(({ name }) => name !== undefined);
  expect(named.map(({ name }) => name).sort()).toEqual(["big", "later 1", "later 2", "later 3", "older 1", "older 2"]);
  for (const { name, says } of named)
    if (name === "later 1" || name === "older 1")
      expect(says).toContainEqual(
        expect.objectContaining({ field: "attributes.says", text: expect.stringMatching(/./) }),
      );
  const paged = spans.flatMap(({ span, bytes }) => (bytes === undefined ? [] : [[span, String(bytes)] as const]));
  const ofBig = paged.filter(([span]) => span === named.find(({ name }) => name === "big")!._id);
  expect(Buffer.concat(ofBig.map(([, bytes]) => Buffer.from(bytes, "base64"))).toString()).toBe("y".repeat(600_000));

  const other = newTraceId();
  await rig.dispatch.unary(TraceService.method.export, exportOf("other", [{ trace: other }]), as("bob", "traces"));
  const gone = { call: () => Promise.reject(new ConnectError("no such user", Code.NotFound)) };
  const context = { store, peers: gone } as unknown as Context;
  await erasePersonalData(context, create(ErasePersonalDataRequestSchema, { userId: "alice" }), {} as Call);
  const { lists, segments, spans: own, payloads, pages: cut } = store;
  const left = [lists, segments, own, payloads, cut].map((one) => (one as typeof own).find({}).toArray());
  expect((await Promise.all(left)).map((some) => some.map(({ _id }) => _id.split(".")[0]))).toEqual([
    ...[[other], [other]],
    ...[[], [], []],
  ]);
});

test("a version that knows no segments refuses the store that this one has opened", async () => {
  const { indexes } = COLLECTIONS.find(({ name }) => name === "spans") as CollectionSpec;
  const refused = rig.store.ensure([{ name: "spans", environment: "traces", indexes }]);
  await expect(refused).rejects.toThrow("collection spans has schema version 1");
});
