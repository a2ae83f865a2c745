import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { as, type Rig, startRig } from "./rig.js";

// What the objects of one user may add up to: five, or 50,000 bytes.

const agents = AgentService.method;
let rig: Rig;

beforeEach(async () => {
  rig = await startRig({ quota: { objects: 5, bytes: 50_000 } });
});
afterEach(() => rig.close());

const create = async (who: string, more: object = {}): Promise<string> => {
  const { agent } = await rig.dispatch.unary(agents.createAgent, { name: "One", ...more }, as(who));
  return agent?.id as string;
};
const refusal = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "",
    (error: unknown) => {
      const { code, rawMessage } = ConnectError.from(error);
      return `${Code[code]}: ${rawMessage}`;
    },
  );

test("a user has so many objects, and room again for one that is deleted", async () => {
  const ids = [];
  for (let i = 0; i < 5; i++) ids.push(await create("alice"));
  expect(await refusal(create("alice"))).toMatch(/^ResourceExhausted: .* room for 5 .*: delete some first$/);
  await create("bob");
  await rig.dispatch.unary(agents.deleteAgent, { agentId: ids[0] as string }, as("alice"));
  await create("alice");
  expect(await refusal(create("alice"))).toContain("ResourceExhausted");
});

test("bytes count, also those that an update adds, and come back where it takes them away", async () => {
  const id = await create("alice", { instructions: "a".repeat(30_000) });
  const long = (agentId: string, instructions: string) =>
    rig.dispatch.unary(agents.updateAgent, { agentId, instructions }, as("alice"));
  expect(await refusal(create("alice", { instructions: "a".repeat(30_000) }))).toContain("ResourceExhausted");
  const other = await create("alice");
  expect(await refusal(long(other, "a".repeat(30_000)))).toContain("ResourceExhausted");
  await long(id, "short");
  await long(other, "a".repeat(30_000));
});

test("those that are made at the same time share the room", async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => refusal(create("alice"))));
  expect(made.filter((said) => said === "").length).toBeLessThanOrEqual(5);
});
