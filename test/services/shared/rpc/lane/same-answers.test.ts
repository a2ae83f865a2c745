import { equals, type Message, type MessageShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService, CreateAgentRequestSchema, CreateAgentResponseSchema } from "#proto/core/v1/agent_service_pb.js";
import { silentLog } from "../../../../../services/shared/process/log.js";
import type { Dispatch } from "../../../../../services/shared/rpc/dispatch.js";
import { mountInProcess } from "../../../../../services/shared/rpc/in-process.js";
import { unary } from "../../../../../services/shared/rpc/method.js";
import { anyMessage } from "../../../../facade/support/arbitrary-message.js";
import { authenticator, CREATE, OURS, startLane, untilOnLane } from "./support.js";

// Whatever is asked and answered, a call by the lane is the call in one process.

type Reply = MessageShape<typeof CreateAgentResponseSchema>;
type Asked = MessageShape<typeof CreateAgentRequestSchema>;

let rig: Awaited<ReturnType<typeof startLane>>;
let local: Dispatch;
let seen: Asked | undefined;
let next: Reply;

const method = unary(AgentService.method.createAgent, (request) => {
  seen = request;
  return next;
});
beforeAll(async () => {
  rig = await startLane({ extra: [method] });
  local = mountInProcess([method], { authenticator, log: silentLog });
  await untilOnLane(rig.dispatch, rig.door);
});
afterAll(() => rig.close());

/** What a call came to: what the method saw of it, and its reply or error. */
async function outcome(dispatch: Dispatch, request: Asked) {
  seen = undefined;
  try {
    const reply = await dispatch.unary(CREATE, request, OURS);
    return { seen: seen as Asked | undefined, reply };
  } catch (error) {
    const { code, rawMessage, details } = ConnectError.from(error);
    return { seen: seen as Asked | undefined, failed: { code, rawMessage, details: details.length } };
  }
}

test("any request and any reply are the same by the lane and in one process", async () => {
  const before = rig.door.calls();
  // A name that is allowed lets most of them through to the method.
  const requests = anyMessage(CreateAgentRequestSchema).map((message) => {
    const asked = message as Asked;
    if (asked.name === "" || asked.name.length > 100) asked.name = "n";
    return asked;
  });
  const replies = anyMessage(CreateAgentResponseSchema) as fc.Arbitrary<Message>;
  await fc.assert(
    fc.asyncProperty(requests, replies, async (request, reply) => {
      next = reply as Reply;
      const [here, there] = [await outcome(local, request), await outcome(rig.dispatch, request)];
      expect(there.failed).toEqual(here.failed);
      if (here.reply !== undefined && there.reply !== undefined) {
        expect(equals(CreateAgentResponseSchema, here.reply, there.reply)).toBe(true);
      }
      expect(there.seen === undefined).toBe(here.seen === undefined);
      if (here.seen !== undefined && there.seen !== undefined) {
        expect(equals(CreateAgentRequestSchema, here.seen, there.seen)).toBe(true);
      }
    }),
    { numRuns: 200 },
  );
  expect(rig.door.calls()).toBe(before);
});
