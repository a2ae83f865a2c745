import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { WriteFailure_Outcome, WriteFailureSchema } from "#proto/mcp/v1/write_failure_pb.js";
import {
  ExportTraceServiceRequestSchema,
  TraceService,
} from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { notFound } from "../../../../../services/shared/rpc/errors.js";
import { unreadMessage, unreadOf } from "../../../../../services/shared/rpc/unread.js";
import { ANA, CREATE, GET, OURS, startLane, untilOnLane } from "./support.js";

// Calls of one of our processes at another, by the lane; that they come by it
// is seen from the gRPC port, which hears nothing of them.

let rig: Awaited<ReturnType<typeof startLane>>;
let heardBefore: number;
beforeAll(async () => {
  rig = await startLane();
});
beforeEach(async () => {
  rig.world.get = (id) => ({ agent: { id } });
  await onLane();
});
afterEach(() => expect(rig.door.calls()).toBe(heardBefore));
afterAll(() => rig.close());

/** Until the lane is open. */
async function onLane(): Promise<void> {
  await untilOnLane(rig.dispatch, rig.door);
  heardBefore = rig.door.calls();
}

const failure = (promise: Promise<unknown>): Promise<ConnectError> =>
  promise.then(
    () => {
      throw new Error("it was answered");
    },
    (error: unknown) => ConnectError.from(error),
  );
const get = (agentId: string, out: object = {}) => rig.dispatch.unary(GET, { agentId }, { ...OURS, ...out });

test("a call is answered, and its method knows caller, deadline and trace", async () => {
  const deadline = Date.now() + 5_000;
  const { agent } = await get("a", { deadline, traceparent: "00-1-2-01" });
  expect(agent?.id).toBe("a");
  const call = rig.world.calls.at(-1);
  expect(call).toMatchObject({ caller: ANA, assertion: "ana", traceparent: "00-1-2-01" });
  expect(Math.abs((call?.deadline as number) - deadline)).toBeLessThan(100);
});

test("an answer that takes a moment is given when it is there", async () => {
  rig.world.get = async (id) => {
    await sleep(20);
    return { agent: { id } };
  };
  expect((await get("later")).agent?.id).toBe("later");
});

test("an error comes with its code, words, details and metadata", async () => {
  rig.world.get = () => {
    const error = new ConnectError("it was changed", Code.Aborted, { "x-said": "one", "x-more": "two" });
    error.details = [{ desc: WriteFailureSchema, value: { outcome: WriteFailure_Outcome.PARTLY } }];
    throw error;
  };
  const error = await failure(get("a"));
  expect(error).toMatchObject({ code: Code.Aborted, rawMessage: "it was changed" });
  expect(error.findDetails(WriteFailureSchema)).toEqual([
    create(WriteFailureSchema, { outcome: WriteFailure_Outcome.PARTLY }),
  ]);
  expect([error.metadata.get("x-said"), error.metadata.get("x-more")]).toEqual(["one", "two"]);
  expect(error.metadata.get("x-lane-token")).toBeNull();
});

test("an error that came from another service keeps its words, and not what framed it there", async () => {
  rig.world.get = async () => {
    throw new ConnectError("far away", Code.NotFound, { "content-length": "3", "transfer-encoding": "chunked" });
  };
  expect(await failure(get("a"))).toMatchObject({ code: Code.NotFound, rawMessage: "far away" });
  rig.world.get = (id) => ({ agent: { id } });
  expect((await get("next")).agent?.id).toBe("next");
});

test("what a fault of ours says stays inside", async () => {
  rig.world.get = () => {
    throw new Error("a secret of ours");
  };
  expect(await failure(get("a"))).toMatchObject({ code: Code.Internal, rawMessage: "internal error" });
});

test("who is not known is refused, and what breaks a rule", async () => {
  const nobody = await failure(get("a", { credential: { assertion: "eve" } }));
  expect(nobody).toMatchObject({ code: Code.Unauthenticated, rawMessage: "this credential is not known" });
  const wrong = await failure(rig.dispatch.unary(GET, {}, OURS));
  expect(wrong).toMatchObject({ code: Code.InvalidArgument, rawMessage: expect.stringContaining("agent_id") });
});

test("a call ends at its deadline, also where its method does not look at it, and the method is told", async () => {
  rig.world.get = () => sleep(5_000, {}, { ref: false });
  const begun = performance.now();
  expect(await failure(get("slow", { deadline: Date.now() + 60 }))).toMatchObject({ code: Code.DeadlineExceeded });
  expect(performance.now() - begun).toBeLessThan(2_000);

  rig.world.get = (id) => ({ agent: { id } });
  await onLane();
  let reason: unknown;
  rig.world.get = (_id, { signal }) =>
    new Promise((_, reject) =>
      signal.addEventListener("abort", () => {
        reason = signal.reason;
        reject(signal.reason);
      }),
    );
  expect(await failure(get("slow", { deadline: Date.now() + 60 }))).toMatchObject({ code: Code.DeadlineExceeded });
  await expect.poll(() => reason).toBeInstanceOf(ConnectError);
});

test("many deadlines pass in their order, whichever was set first", async () => {
  await Promise.all([get("a"), get("b"), get("c")]);
  rig.world.get = () => sleep(5_000, {}, { ref: false });
  const order: number[] = [];
  const late = [90, 30, 60].map((ms) =>
    failure(get("slow", { deadline: Date.now() + ms })).then((error) => {
      expect(error.code).toBe(Code.DeadlineExceeded);
      order.push(ms);
    }),
  );
  await Promise.all(late);
  expect(order).toEqual([30, 60, 90]);
});

test("a call that is cancelled ends at once, and its method is told", async () => {
  let signal: AbortSignal | undefined;
  rig.world.get = async (_id, call) => {
    signal = call.signal;
    await sleep(5_000, undefined, { signal, ref: false });
  };
  const leave = new AbortController();
  const call = failure(get("slow", { signal: leave.signal }));
  await expect.poll(() => signal).toBeDefined();
  expect(signal?.aborted).toBe(false);
  leave.abort();
  expect(await call).toMatchObject({ code: Code.Canceled });
  await expect.poll(() => signal?.aborted).toBe(true);
  expect(await failure(get("a", { signal: leave.signal }))).toMatchObject({ code: Code.Canceled });
});

test("of calls that share a connection one is cancelled: its method is told, and the others go on", async () => {
  const told: string[] = [];
  const answers = new Map<string, (agent: object) => void>();
  rig.world.get = (id, { signal }) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => told.push(id));
      answers.set(id, resolve);
    });
  const leave = new AbortController();
  const [first, second] = [get("first"), failure(get("second", { signal: leave.signal }))];
  await expect.poll(() => answers.size).toBe(2);
  leave.abort();
  expect(await second).toMatchObject({ code: Code.Canceled });
  await expect.poll(() => told).toEqual(["second"]);
  // What its method still says goes to nobody.
  answers.get("second")?.({ agent: { id: "second" } });
  answers.get("first")?.({ agent: { id: "first" } });
  expect((await first).agent?.id).toBe("first");
  expect(told).toEqual(["second"]);
});

test("a long message has a connection of its own, and short ones do not wait for it", async () => {
  const long = "x".repeat(200 << 10);
  rig.world.exported = () => undefined;
  const bytes = toBinary(
    ExportTraceServiceRequestSchema,
    create(ExportTraceServiceRequestSchema, { resourceSpans: [{ scopeSpans: [{ spans: [{ name: long }] }] }] }),
  );
  const request = unreadMessage(ExportTraceServiceRequestSchema, { bytes, encoding: "protobuf" });
  const all = await Promise.all([
    rig.dispatch.unary(TraceService.method.export, request, OURS),
    get("a"),
    rig.dispatch.unary(TraceService.method.export, request, OURS),
  ]);
  expect(all[1].agent?.id).toBe("a");
});

test("a signal that is first asked for when the client has gone is aborted", async () => {
  let answer: (agent: object) => void = () => undefined;
  rig.world.get = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const leave = new AbortController();
  const count = rig.world.calls.length;
  const call = failure(get("slow", { signal: leave.signal }));
  await expect.poll(() => rig.world.calls.length).toBe(count + 1);
  leave.abort();
  await call;
  await expect.poll(() => rig.world.calls.at(count)?.signal.aborted).toBe(true);
  answer({});
});

test("an answer of 4 MB comes whole", async () => {
  const description = "é".repeat(2 << 20);
  rig.world.get = () => ({ agent: { description } });
  expect((await get("long")).agent?.description === description).toBe(true);
});

test("an empty message is one", async () => {
  const { AgentService } = await import("#proto/core/v1/agent_service_pb.js");
  expect(await rig.dispatch.unary(AgentService.method.listAgents, {}, OURS)).toMatchObject({ agents: [] });
});

test("a long export of others reaches its method unread, byte for byte", async () => {
  const bytes = toBinary(
    ExportTraceServiceRequestSchema,
    create(ExportTraceServiceRequestSchema, {
      resourceSpans: [{ scopeSpans: [{ spans: Array.from({ length: 400 }, () => ({ name: "s".repeat(40) })) }] }],
    }),
  );
  const request = unreadMessage(ExportTraceServiceRequestSchema, { bytes, encoding: "protobuf" });
  let seen: Uint8Array | undefined;
  rig.world.exported = (message) => {
    seen = unreadOf(message)?.bytes;
  };
  await rig.dispatch.unary(TraceService.method.export, request, OURS);
  expect(Buffer.compare(Buffer.from(seen as Uint8Array), Buffer.from(bytes))).toBe(0);
});

test("of many calls at once each gets its own answer, over connections that are kept", async () => {
  rig.world.get = async (id) => {
    if (id.endsWith("3")) await sleep(Math.random() * 5);
    return { agent: { id, description: "x".repeat(Number(id) % 3_000) } };
  };
  const ids = Array.from({ length: 2_000 }, (_, i) => String(i));
  for (let from = 0; from < ids.length; from += 50) {
    const some = ids.slice(from, from + 50);
    const agents = await Promise.all(some.map((id) => get(id)));
    expect(agents.map(({ agent }) => agent?.id)).toEqual(some);
    expect(agents.map(({ agent }) => agent?.description.length)).toEqual(some.map((id) => Number(id) % 3_000));
  }
});

test("a write that fails says what its method said, and is made once", async () => {
  rig.world.create = () => {
    throw notFound("no such model");
  };
  const before = rig.world.begun.length;
  expect(await failure(rig.dispatch.unary(CREATE, { name: "n" }, OURS))).toMatchObject({ code: Code.NotFound });
  expect(rig.world.begun.slice(before)).toEqual(["create"]);
});
