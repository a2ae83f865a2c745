import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { ErasePersonalDataRequestSchema } from "#proto/traces/v1/personal_data_service_pb.js";
import type { Call } from "../../../services/shared/rpc/call.js";
import type { Context } from "../../../services/traces/context.js";
import { erasePersonalData } from "../../../services/traces/personal/erase.js";
import { openTraceStore, type TraceStore } from "../../../services/traces/store.js";
import { as, type Rig } from "../core-objects/rig.js";
import { startTraces } from "./rig.js";
import { exportOf, newTraceId, type Sketch } from "./spans.js";

let rig: Rig;
beforeAll(async () => {
  rig = await startTraces();
});
afterAll(() => rig.close());

const send = (spans: readonly Sketch[]) =>
  rig.dispatch.unary(TraceService.method.export, exportOf("ended run", spans), as("alice", "traces"));

test.each([1, 20])(
  "spans that come while those of their trace are erased are erased too: %d, as of a run that ends late",
  async (count) => {
    const trace = newTraceId();
    const spans = (): Sketch[] => Array.from({ length: count }, () => ({ trace }));
    await send([...spans(), ...spans()]);
    const store = await openTraceStore(rig.store);
    let late: Promise<unknown> | undefined;
    const traces = new Proxy(store.traces, {
      get(target, name) {
        if (name !== "deleteOne") return Reflect.get(target, name).bind(target);
        // The spans that are there are gone, and their trace is not yet.
        return async (filter: never) => {
          late ??= send(spans());
          await late;
          return target.deleteOne(filter);
        };
      },
    });
    const gone = { call: () => Promise.reject(new ConnectError("no such user", Code.NotFound)) };
    const context = { store: { ...store, traces }, peers: gone } as unknown as Context;
    await erasePersonalData(context, create(ErasePersonalDataRequestSchema, { userId: "alice" }), {} as Call);
    const left = async (name: keyof Omit<TraceStore, "inOrder" | "usage">) =>
      (await (store[name] as TraceStore["spans"]).find({}).toArray()).length;
    expect(
      await Promise.all((["traces", "segments", "lists", "spans", "payloads", "pages"] as const).map(left)),
    ).toEqual([0, 0, 0, 0, 0, 0]);
  },
);
