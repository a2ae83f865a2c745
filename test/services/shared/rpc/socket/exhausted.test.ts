import { type ClientHttp2Session, constants } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterEach, expect, test } from "vitest";
import { GetAgentRequestSchema } from "#proto/core/v1/agent_service_pb.js";
import { CONNECTION_LIMITS } from "../../../../../services/shared/rpc/socket/connections.js";
import { CALL_SLOT_LIMITS } from "../../../../../services/shared/rpc/socket/slots.js";
import { call, envelope, GET_AGENT, open, startRig } from "./support.js";

// A refusal needs no window and costs as much as a short call: a caller who has
// too many calls open is refused so often, and then hung up on.

const CALLS = 4;
const REFUSALS = 20;
const ANA = { authorization: "Bearer ana", "content-type": "application/grpc", te: "trailers" };
const asks = (agentId: string): Buffer =>
  envelope(toBinary(GetAgentRequestSchema, create(GetAgentRequestSchema, { agentId })));

let rig: Awaited<ReturnType<typeof startRig>>;
afterEach(() => rig.server.close(0));

const endOf = (session: ClientHttp2Session): Promise<number> =>
  new Promise((resolve) => session.once("goaway", (code) => resolve(code)));

test("a key that keeps its calls open and repeats what is refused is hung up on, on each connection", async () => {
  rig = await startRig({
    slots: { ...CALL_SLOT_LIMITS, calls: CALLS },
    connections: { ...CONNECTION_LIMITS, exhausted: { burst: REFUSALS, perSecond: 0.001 } },
  });
  const holding = open(rig.url);
  const held = Array.from({ length: CALLS }, () => call(holding, GET_AGENT, ANA, asks("waits")).catch(() => undefined));
  while (rig.seen.begun.length < CALLS) await new Promise((resolve) => setTimeout(resolve, 5));

  const insisting = open(rig.url);
  const ended = endOf(insisting);
  let refused = 0;
  const again = async (): Promise<void> => {
    while (!insisting.destroyed && !insisting.closed) {
      const answered = await call(insisting, GET_AGENT, ANA, asks("one")).catch(() => undefined);
      if (answered?.headers["grpc-status"] === "8") refused++;
    }
  };
  const insists = Promise.all(Array.from({ length: 8 }, again));
  expect(await ended).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  await insists;
  expect(refused).toBeGreaterThan(0);
  expect(refused).toBeLessThanOrEqual(REFUSALS + 1);

  // The next connection of the key is told at its first call.
  const next = open(rig.url);
  const nextEnded = endOf(next);
  void call(next, GET_AGENT, ANA, asks("one")).catch(() => undefined);
  expect(await nextEnded).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  expect(rig.seen.begun).toHaveLength(CALLS);
  holding.destroy();
  await Promise.all(held);
});
