import { Code } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { createTracesService } from "../../../services/traces/service.js";
import { as, type Rig, startRig } from "../core-objects/rig.js";
import { exportOf, newSpanId, newTraceId } from "./spans.js";

// An export whose sender goes away begins no further trace, and keeps no room
// for what it has not kept.

/** Traces of one span are begun 64 at a time. */
const GROUP = 64;
const TRACES = 10 * GROUP;
const LEAVES_AFTER = 5;

let rig: Rig;
let written: number;
let onWrite: (written: number) => void;

beforeEach(async () => {
  rig = await startRig();
  written = 0;
  onWrite = () => undefined;
  const { store, peers } = rig;
  const counting = {
    ...store,
    ensure: store.ensure.bind(store),
    place: store.place.bind(store),
    inOrder: store.inOrder.bind(store),
    collection(name: string) {
      const collection = store.collection(name);
      if (name !== "span_lists") return collection;
      return new Proxy(collection, {
        get(target, key) {
          const value = Reflect.get(target, key) as unknown;
          if (typeof value !== "function") return value;
          return (...given: unknown[]) => {
            if (key === "bulkWrite") onWrite(++written);
            return (value as (...all: unknown[]) => unknown).apply(target, given);
          };
        },
      });
    },
  };
  const quota = { spans: TRACES, bytes: 10_000_000 };
  rig.add(await createTracesService({ store: counting as never, peers, log: silentLog, retentionDays: 30, quota }));
});
afterEach(() => rig.close());

const send = (delivery: ReturnType<typeof exportOf>, signal?: AbortSignal) =>
  rig.dispatch.unary(TraceService.method.export, delivery, { ...as("alice", "traces"), ...(signal && { signal }) });
const kept = () => rig.store.collection("traces").countDocuments();

test("an export that its sender has left stops; repeated, it brings the rest and takes its room once", async () => {
  const delivery = exportOf(
    "q",
    Array.from({ length: TRACES }, () => ({ trace: newTraceId(), id: newSpanId() })),
  );
  const leaving = new AbortController();
  onWrite = (count) => {
    if (count === LEAVES_AFTER) leaving.abort();
  };
  await expect(send(delivery, leaving.signal)).rejects.toMatchObject({ code: Code.Canceled });
  await expect.poll(kept).toBe(LEAVES_AFTER * GROUP);
  expect(written).toBe(LEAVES_AFTER);

  onWrite = () => undefined;
  expect((await send(delivery)).partialSuccess).toBeUndefined();
  expect(await kept()).toBe(TRACES);
  const one = await send(exportOf("q", [{}]));
  expect(Number(one.partialSuccess?.rejectedSpans)).toBe(1);
});
