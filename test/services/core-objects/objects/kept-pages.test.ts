import { create, equals } from "@bufbuild/protobuf";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService, ListAgentsRequestSchema, ListAgentsResponseSchema } from "#proto/core/v1/agent_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import { KeptPages } from "../../../../services/core-objects/objects/kept-pages.js";
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

const FIRST = create(ListAgentsRequestSchema);

test("a page is kept for its reader and its request alone, while nothing is written, and nobody can change it", () => {
  const pages = new KeptPages("agents");
  const [alice, bob] = [{ id: "alice" }, { id: "alice" }] as Caller[] as [Caller, Caller];
  const page = create(ListAgentsResponseSchema, { agents: [{ id: "1", name: "Sorter" }] });
  const key = pages.keyOf(alice, FIRST);
  pages.keep(key, 7, page);
  expect(pages.get(pages.keyOf(alice, create(ListAgentsRequestSchema)), 7)).toBe(page);
  expect([pages.get(key, 8), pages.get(pages.keyOf(bob, FIRST), 7)]).toEqual([undefined, undefined]);
  expect(() => Object.assign(page.agents[0]!, { name: "other" })).toThrow(TypeError);
  expect(() => page.agents.pop()).toThrow(TypeError);
  expect(() => Object.assign(page, { agents: [] })).toThrow(TypeError);
});

test("no two requests have one name", () => {
  const pages = new KeptPages("agents");
  const alice = { id: "alice" } as Caller;
  const requests = fc.record({
    origin: fc.constantFrom(0, 1, 2),
    pageSize: fc.constantFrom(undefined, 1, 20),
    pageToken: fc.constantFrom("", "a", 'a["",["b"]]', "1,a"),
    query: fc.constantFrom("", "a", '"', "a,b"),
    labels: fc.array(fc.constantFrom("a", "b", ",", '","'), { maxLength: 2 }),
  });
  fc.assert(
    fc.property(requests, requests, (one, other) => {
      const [first, second] = [one, other].map((init) => create(ListAgentsRequestSchema, init));
      const isOne = equals(ListAgentsRequestSchema, first!, second!);
      expect(pages.keyOf(alice, first!) === pages.keyOf(alice, second!)).toBe(isOne);
    }),
    { numRuns: 5_000 },
  );
});
