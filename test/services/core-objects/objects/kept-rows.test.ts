import type { Message } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import { KeptRows } from "../../../../services/core-objects/objects/kept-rows.js";
import type { ObjectRecord } from "../../../../services/core-objects/record.js";
import type { Caller } from "../../../../services/shared/rpc/call.js";
import { as, type Rig, startRig } from "../rig.js";

const { listAgents, createAgent, updateAgent } = AgentService.method;

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

/** What somebody is shown of an agent in their list, asked so often that the store keeps the page. */
async function shown(who: string, id: string) {
  const rows = [];
  for (let times = 0; times < 4; times++) {
    const { agents } = await rig.dispatch.unary(listAgents, {}, as(who));
    rows.push(agents.find((agent) => agent.id === id));
  }
  for (const row of rows) expect(row).toEqual(rows[0]);
  return rows[0];
}

test("a list that is asked for again and again shows each reader their own row, and each change at once", async () => {
  const { agent } = await rig.dispatch.unary(createAgent, { name: "Sorter" }, as("alice"));
  const id = agent!.id;
  const share = [{ to: "group:soc", tier: Tier.VIEW }];
  await rig.dispatch.unary(updateAgent, { agentId: id, share }, as("alice"));
  expect(await shown("alice", id)).toMatchObject({ name: "Sorter", yourAccess: Tier.MANAGE });
  expect(await shown("bob", id)).toMatchObject({ name: "Sorter", yourAccess: Tier.VIEW });
  expect(await shown("carl", id)).toBeUndefined();

  const change = { agentId: id, name: "Finder", share: [{ to: "user:bob", tier: Tier.CONFIG }] };
  await rig.dispatch.unary(updateAgent, { ...change, unshare: ["group:soc"] }, as("alice"));
  expect(await shown("alice", id)).toMatchObject({ name: "Finder", yourAccess: Tier.MANAGE });
  expect(await shown("bob", id)).toMatchObject({ name: "Finder", yourAccess: Tier.CONFIG });

  await rig.dispatch.unary(updateAgent, { agentId: id, unshare: ["user:bob"] }, as("alice"));
  expect(await shown("bob", id)).toBeUndefined();
});

test("a row is kept for its reader alone, and of a record that nobody can change", () => {
  const rows = new KeptRows();
  const [alice, bob] = [{ id: "alice" }, { id: "bob" }] as Caller[] as [Caller, Caller];
  const record = Object.freeze({ _id: "1" }) as ObjectRecord;
  const row = { $typeName: "row" } as Message;
  rows.keep(alice, record, row);
  expect([rows.get(alice, record), rows.get(bob, record)]).toEqual([row, undefined]);
  expect(() => Object.assign(row, { $typeName: "other" })).toThrow(TypeError);

  const changing = { _id: "1" } as ObjectRecord;
  rows.keep(alice, changing, { $typeName: "row" });
  expect(rows.get(alice, changing)).toBeUndefined();
});
