import { createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, expect, test } from "vitest";
import {
  ExportTraceServiceRequestSchema,
  TraceService,
} from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { silentLog } from "../../../../../services/shared/process/log.js";
import { LOCAL_HOST } from "../../../../../services/shared/rpc/lane/announcement.js";
import { unary, withScope } from "../../../../../services/shared/rpc/method.js";
import { unreadMessage } from "../../../../../services/shared/rpc/unread.js";
import { freePorts } from "../../../../support/program.js";
import { CREATE, GET, laneAt, OURS, openRelay, startLane, untilOnLane } from "./support.js";

// What becomes of calls when the other process goes, comes back, or cannot be reached by its lane.

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

async function start(options: Parameters<typeof startLane>[0] = {}) {
  const rig = await startLane(options);
  closings.push(() => rig.close());
  return rig;
}
const SPANS = { resourceSpans: [{ scopeSpans: [{ spans: [{ name: "x".repeat(200 << 10) }] }] }] };
/** A message that is too long for the connection that calls share. */
const LONG = unreadMessage(ExportTraceServiceRequestSchema, {
  bytes: toBinary(ExportTraceServiceRequestSchema, create(ExportTraceServiceRequestSchema, SPANS)),
  encoding: "protobuf",
});
const outcome = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "answered",
    (error: unknown) => ConnectError.from(error).code,
  );

test("a process that comes back is called at its port, and then by its new lane", async () => {
  const [port] = await freePorts(1);
  const lane = { at: { host: LOCAL_HOST, port: port as number }, log: silentLog };
  const first = await start({ lane });
  await untilOnLane(first.dispatch, first.door);
  await first.server.close(0);
  // Nobody is there: neither by the lane nor at the port.
  expect(await outcome(first.dispatch.unary(GET, { agentId: "a" }, OURS))).not.toBe("answered");
  const second = await start({ lane });
  first.door.leadTo(second.server.port);
  const back = () => outcome(first.dispatch.unary(CREATE, { name: "n" }, OURS));
  await expect.poll(back).toBe("answered");
  await untilOnLane(first.dispatch, first.door);
  expect(second.world.begun).toContain("create");
});

test("the other process ends in the middle: a read is made again at the port, a write is not", async () => {
  const rig = await start();
  const lanes = await relayedLane(rig);
  await untilOnLane(rig.dispatch, rig.door);

  rig.world.get = async (id) => {
    lanes.cut();
    rig.world.get = (again) => ({ agent: { id: `${again} again` } });
    await sleep(5);
    return { agent: { id } };
  };
  const { agent } = await rig.dispatch.unary(GET, { agentId: "a" }, OURS);
  expect(agent?.id).toBe("a again");

  await untilOnLane(rig.dispatch, rig.door);
  rig.world.begun.length = 0;
  rig.world.create = async () => {
    lanes.cut();
    await sleep(5);
    return {};
  };
  const error = await rig.dispatch.unary(CREATE, { name: "n" }, OURS).catch((problem: unknown) => problem);
  expect(error).toMatchObject({ code: Code.Unavailable, rawMessage: expect.stringContaining("was lost") });
  await sleep(20);
  expect(rig.world.begun).toEqual(["create"]);
});

/** Puts a relay in front of a rig's lane, which its gRPC port announces from then on. */
async function relayedLane(rig: Awaited<ReturnType<typeof startLane>>) {
  const { port } = await laneAt(rig.server.port);
  const relay = await openRelay(port);
  closings.push(() => relay.close());
  rig.door.announceAt(relay.port);
  return relay;
}

test("a process that closes says so, and what it says it begins nothing of goes to its port", async () => {
  const rig = await start();
  await untilOnLane(rig.dispatch, rig.door);
  const other = await start();
  let finish = (): void => undefined;
  rig.world.get = async (id) => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return { agent: { id } };
  };
  rig.world.begun.length = 0;
  const running = rig.dispatch.unary(GET, { agentId: "running" }, OURS);
  await expect.poll(() => rig.world.begun).toEqual(["get"]);
  // While it closes, another one has taken over its port.
  rig.door.leadTo(other.server.port);
  const closed = rig.server.close(5_000);
  // Not repeatable, and yet it is made: at the port.
  expect(await outcome(rig.dispatch.unary(CREATE, { name: "n" }, OURS))).toBe("answered");
  expect(other.world.begun).toContain("create");
  expect(rig.world.begun).toEqual(["get"]);
  finish();
  expect((await running).agent?.id).toBe("running");
  await closed;
});

test("a lane that cannot be reached, or does not know the token, costs no call anything", async () => {
  const rig = await start();
  const [nobody] = await freePorts(1);
  rig.door.announceAt(nobody as number);
  for (let i = 0; i < 5; i++) {
    expect(await outcome(rig.dispatch.unary(CREATE, { name: "n" }, OURS))).toBe("answered");
    await sleep(5);
  }

  const strangers: Socket[] = [];
  let heard = "";
  const stranger = createServer((socket) => {
    strangers.push(socket);
    socket
      .on("error", () => undefined)
      .on("data", (piece) => {
        heard += piece.toString("latin1");
        socket.destroy();
      });
  }).listen(0, LOCAL_HOST);
  closings.push(() => stranger.close());
  await expect.poll(() => stranger.address()).not.toBeNull();
  const again = await start();
  again.door.announceAt((stranger.address() as { port: number }).port);
  for (let i = 0; i < 20; i++) {
    expect(await outcome(again.dispatch.unary(CREATE, { name: "n" }, OURS))).toBe("answered");
    await sleep(5);
  }
  // It was tried once, and shown no credential and no call.
  expect(strangers).toHaveLength(1);
  expect(heard).toMatch(/^GET \/calls /);
  expect(heard).not.toContain("x-caller");
  expect(again.world.begun.filter((name) => name === "create")).toHaveLength(20);
});

test("a connection that is idle is closed by its client, long before its server would", async () => {
  const rig = await start();
  await untilOnLane(rig.dispatch, rig.door);
  const before = rig.door.calls();
  await sleep(5_500);
  // Nothing is kept open: the port is asked, which announces the lane again.
  expect(await outcome(rig.dispatch.unary(CREATE, { name: "n" }, OURS))).toBe("answered");
  expect(rig.door.calls()).toBeGreaterThan(before);
  await untilOnLane(rig.dispatch, rig.door);
});

test("a call that takes long is waited for, and one whose process says nothing any more is not", async () => {
  let exports = 0;
  const never = () => sleep(60_000, {}, { ref: false });
  const exporting = withScope(
    "traces:write",
    unary(TraceService.method.export, () => {
      exports++;
      return never();
    }),
  );
  const slow = await start();
  const [gone, closing] = [await start({ extra: [exporting] }), await start({ extra: [exporting] })];
  const lanes = [await relayedLane(gone), await relayedLane(closing)];
  for (const { dispatch, door } of [slow, gone, closing]) await untilOnLane(dispatch, door);
  slow.world.get = async (id) => {
    await sleep(17_000);
    return { agent: { id } };
  };
  const answer = slow.dispatch.unary(GET, { agentId: "slow" }, OURS);
  const begun = performance.now();
  const lost = [gone, closing].flatMap(({ world, dispatch }) => {
    world.create = never;
    return [
      dispatch.unary(CREATE, { name: "n" }, OURS),
      // It has a connection of its own.
      dispatch.unary(TraceService.method.export, LONG, OURS),
    ].map((call) => call.catch((problem: unknown) => problem));
  });
  for (const { world } of [gone, closing]) await expect.poll(() => world.begun).toContain("create");
  await expect.poll(() => exports).toBe(2);
  // One of them says first that it begins nothing more; what it has begun is waited for.
  void closing.server.close(60_000);
  await outcome(closing.dispatch.unary(GET, { agentId: "a" }, OURS));
  for (const lane of lanes) lane.stall();
  for (const one of lost)
    expect(await one).toMatchObject({ code: Code.Unavailable, rawMessage: expect.stringContaining("was lost") });
  expect(performance.now() - begun).toBeLessThan(25_000);
  expect((await answer).agent?.id).toBe("slow");
}, 40_000);

test("of more calls at once than a lane takes the others go to the port", async () => {
  const rig = await start();
  await untilOnLane(rig.dispatch, rig.door);
  const before = rig.door.calls();
  rig.world.get = async (id) => {
    await sleep(300);
    return { agent: { id } };
  };
  const ids = Array.from({ length: 300 }, (_, i) => String(i));
  const agents = await Promise.all(ids.map((agentId) => rig.dispatch.unary(GET, { agentId }, OURS)));
  expect(agents.map(({ agent }) => agent?.id)).toEqual(ids);
  // 128 on the connection that they share, and 128 on connections of their own.
  expect(rig.door.calls() - before).toBe(300 - 256);
});
