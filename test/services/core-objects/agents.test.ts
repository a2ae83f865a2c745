import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentAccessService } from "#proto/core/v1/agent_access_service_pb.js";
import {
  AgentService,
  type CreateAgentRequestSchema,
  type UpdateAgentRequestSchema,
} from "#proto/core/v1/agent_service_pb.js";
import { Origin, Tier } from "#proto/core/v1/sharing_pb.js";
import { SkillService } from "#proto/core/v1/skill_service_pb.js";
import type { ObjectRecord } from "../../../services/core-objects/record.js";
import { as, type Rig, startRig } from "./rig.js";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

const { listAgents, getAgent, createAgent, updateAgent, deleteAgent } = AgentService.method;
const BUILTIN = "builtin.threat-analyst";

async function create(who: string, request: MessageInitShape<typeof CreateAgentRequestSchema>) {
  return (await rig.dispatch.unary(createAgent, request, as(who))).agent!;
}
async function read(who: string, id: string) {
  return (await rig.dispatch.unary(getAgent, { agentId: id }, as(who))).agent!;
}
async function update(who: string, request: MessageInitShape<typeof UpdateAgentRequestSchema>) {
  return (await rig.dispatch.unary(updateAgent, request, as(who))).agent!;
}
const remove = (who: string, id: string, etag = "") => rig.dispatch.unary(deleteAgent, { agentId: id, etag }, as(who));

async function refusal(call: Promise<unknown>): Promise<[string, string]> {
  const error = ConnectError.from(
    await call.then(
      () => new Error("nothing was refused"),
      (reason) => reason,
    ),
  );
  return [Code[error.code]!, error.rawMessage];
}

test("built-in agents are read by everyone and changed by nobody, administrators included", async () => {
  for (const who of ["carl", "root"]) {
    const agent = await read(who, BUILTIN);
    expect(agent).toMatchObject({ origin: Origin.BUILTIN, yourAccess: Tier.VIEW });
    expect(agent.instructions).toContain("threat intelligence analyst");
    for (const attempt of [
      () => update(who, { agentId: BUILTIN, name: "mine" }),
      () => update(who, { agentId: BUILTIN, share: [{ to: `user:${who}`, tier: Tier.MANAGE }] }),
      () => remove(who, BUILTIN),
    ]) {
      const [code, message] = await refusal(attempt());
      expect(code).toBe("PermissionDenied");
      expect(message).toContain("are read-only: create your own");
    }
  }
});

test("company-managed agents are created and changed by administrators, read by everyone", async () => {
  expect((await refusal(create("alice", { name: "x", companyManaged: true })))[0]).toBe("PermissionDenied");
  const agent = await create("root", { name: "Company agent", companyManaged: true });
  expect(agent).toMatchObject({ origin: Origin.COMPANY, yourAccess: Tier.MANAGE });
  expect(await read("carl", agent.id)).toMatchObject({ yourAccess: Tier.VIEW, sharing: [] });
  expect((await refusal(update("carl", { agentId: agent.id, name: "x" })))[0]).toBe("PermissionDenied");
  expect((await refusal(remove("carl", agent.id)))[0]).toBe("PermissionDenied");
  expect((await update("root", { agentId: agent.id, name: "Renamed" })).name).toBe("Renamed");
  const sharing = update("root", { agentId: agent.id, share: [{ to: "user:carl", tier: Tier.MANAGE }] });
  expect((await refusal(sharing))[0]).toBe("InvalidArgument");
  await remove("root", agent.id);
});

test("a private agent looks to others, administrators included, like one that does not exist", async () => {
  const agent = await create("alice", { name: "Private" });
  const unknown = (await refusal(read("bob", "no-such-id")))[1].replace("no-such-id", agent.id);
  for (const who of ["bob", "root"]) {
    expect(await refusal(read(who, agent.id))).toEqual(["NotFound", unknown]);
    expect(await refusal(update(who, { agentId: agent.id, name: "x" }))).toEqual(["NotFound", unknown]);
    expect(await refusal(remove(who, agent.id))).toEqual(["NotFound", unknown]);
    const listed = await rig.dispatch.unary(listAgents, { query: "Private" }, as(who));
    expect(listed).toMatchObject({ agents: [], totalSize: 0 });
  }
});

test("a group with the view tier uses an agent, with config changes it, with manage shares and deletes it", async () => {
  const { id } = await create("alice", { name: "Shared", sharing: [{ to: "group:soc", tier: Tier.VIEW }] });
  expect(await read("bob", id)).toMatchObject({ yourAccess: Tier.VIEW, sharing: [] });
  expect((await refusal(read("carl", id)))[0]).toBe("NotFound");
  expect((await refusal(update("bob", { agentId: id, name: "x" })))[0]).toBe("PermissionDenied");

  await update("alice", { agentId: id, share: [{ to: "group:soc", tier: Tier.CONFIG }] });
  expect(await update("bob", { agentId: id, name: "By bob" })).toMatchObject({
    name: "By bob",
    yourAccess: Tier.CONFIG,
  });
  for (const tier of [Tier.VIEW, Tier.CONFIG, Tier.MANAGE]) {
    const [code, message] = await refusal(update("bob", { agentId: id, share: [{ to: "user:carl", tier }] }));
    expect([code, message]).toEqual(["PermissionDenied", expect.stringContaining("needs the manage tier")]);
  }
  expect((await refusal(update("bob", { agentId: id, name: "and", unshare: ["group:soc"] })))[0]).toBe(
    "PermissionDenied",
  );
  expect((await refusal(remove("bob", id)))[0]).toBe("PermissionDenied");

  await update("alice", { agentId: id, share: [{ to: "group:soc", tier: Tier.MANAGE }] });
  const shared = await update("bob", { agentId: id, share: [{ to: "user:carl", tier: Tier.CONFIG }] });
  expect(shared.sharing.map(({ to, tier }) => [to, tier])).toEqual([
    ["group:soc", Tier.MANAGE],
    ["user:carl", Tier.CONFIG],
  ]);
  expect((await read("carl", id)).yourAccess).toBe(Tier.CONFIG);
  await update("bob", { agentId: id, unshare: ["user:carl"] });
  expect((await refusal(read("carl", id)))[0]).toBe("NotFound");
  expect((await rig.dispatch.unary(deleteAgent, { agentId: id }, as("bob"))).id).toBe(id);
  expect((await refusal(read("alice", id)))[0]).toBe("NotFound");
});

test("an update changes what is given and nothing else, and an etag seen before a change is refused", async () => {
  const before = await create("alice", {
    name: "Agent",
    description: "d",
    instructions: "i",
    labels: ["a", "b"],
    tools: ["cti/lookup_ioc"],
    resourceIds: ["builtin.investigate-an-indicator"],
  });
  const after = await update("alice", { agentId: before.id, etag: before.etag, addLabels: ["c"], removeLabels: ["a"] });
  expect({ ...after, etag: "", updatedAt: undefined }).toEqual({
    ...before,
    labels: ["b", "c"],
    etag: "",
    updatedAt: undefined,
  });
  expect(after.etag).not.toBe(before.etag);
  const stale = await refusal(update("alice", { agentId: before.id, etag: before.etag, name: "x" }));
  expect(stale).toEqual(["Aborted", expect.stringContaining(after.etag)]);
  expect((await refusal(remove("alice", before.id, before.etag)))[0]).toBe("Aborted");
  expect((await update("alice", { agentId: before.id, description: "" })).description).toBe("");
});

test("concurrent changes all arrive, and a concurrent etag lets only one through", async () => {
  const { id, etag } = await create("alice", { name: "Busy" });
  await Promise.all([1, 2, 3, 4, 5].map((n) => update("alice", { agentId: id, addLabels: [`t${n}`] })));
  expect([...(await read("alice", id)).labels].sort()).toEqual(["t1", "t2", "t3", "t4", "t5"]);
  const now = (await read("alice", id)).etag;
  expect(now).not.toBe(etag);
  const outcomes = await Promise.allSettled(
    [1, 2, 3].map((n) => update("alice", { agentId: id, etag: now, name: `n${n}` })),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("repeating a creation with its request_id gives the same agent, and only to its creator", async () => {
  const request = { name: "Once", requestId: "r-1" };
  const made = await Promise.all([1, 2, 3].map(() => create("alice", request)));
  expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  expect((await create("bob", request)).id).not.toBe(made[0]!.id);
  const company = { name: "Once", companyManaged: true, requestId: "r-1" };
  expect((await create("root", company)).id).toBe((await create("root", company)).id);
});

test("a repeated creation is answered by what it made, whatever is gone since", async () => {
  const skill = { name: "soon-gone", description: "d", instructions: "i" };
  const { id } = (await rig.dispatch.unary(SkillService.method.createSkill, skill, as("alice"))).skill!;
  const request = { name: "Once", requestId: "r-2", resourceIds: [id], sharing: [{ to: "user:bob", tier: Tier.VIEW }] };
  const made = await create("alice", request);
  await update("alice", { agentId: made.id, removeResourceIds: [id] });
  await rig.dispatch.unary(SkillService.method.deleteSkill, { skillId: id }, as("alice"));
  expect((await create("alice", request)).id).toBe(made.id);
});

test("who is unshared with has to be somebody, or named by a grant", async () => {
  const { id } = await create("alice", { name: "Shared", sharing: [{ to: "user:bob", tier: Tier.VIEW }] });
  expect(await refusal(update("alice", { agentId: id, unshare: ["user:bbo@example.com", "user:bob"] }))).toEqual([
    "InvalidArgument",
    "unknown user or group, and not in sharing: user:bbo@example.com. Name users and groups as sharing shows them",
  ]);
  expect((await read("alice", id)).sharing.length).toBe(1);
  // Somebody whom it is not shared with: as is asked for already.
  expect((await update("alice", { agentId: id, unshare: ["user:carl"] })).sharing.length).toBe(1);
  const agents = rig.store.collection<ObjectRecord>("agents");
  await agents.updateOne(
    { _id: id },
    { $set: { acl: [{ p: "u:gone", t: 1 }], access: ["1:u:gone", "3:u:alice", "1:u:alice"] } },
  );
  expect((await update("alice", { agentId: id, unshare: ["user:gone"] })).sharing).toEqual([]);
});

test("only skills that the caller can see are attached; one attached by another stays", async () => {
  const [code, message] = await refusal(create("alice", { name: "x", resourceIds: ["no-such-skill"] }));
  expect([code, message]).toEqual(["InvalidArgument", expect.stringContaining("no-such-skill")]);
  const { id } = await create("alice", {
    name: "With skill",
    resourceIds: ["builtin.assess-compliance"],
    sharing: [{ to: "user:bob", tier: Tier.CONFIG }],
  });
  expect((await refusal(update("bob", { agentId: id, addResourceIds: ["hidden"] })))[0]).toBe("InvalidArgument");
  const { skills } = await update("bob", { agentId: id, name: "kept" });
  expect(skills).toMatchObject([{ id: "builtin.assess-compliance", name: "assess-compliance" }]);
});

test("lists are searched, filtered and paged to the end without instructions", async () => {
  for (let n = 0; n < 7; n++) {
    await create("carl", { name: `Paged (${n})`, instructions: "long", labels: n % 2 === 0 ? ["even", "p"] : ["p"] });
  }
  const seen: string[] = [];
  let pageToken = "";
  do {
    const page = await rig.dispatch.unary(listAgents, { query: "paged (", pageSize: 3, pageToken }, as("carl"));
    expect(page.agents.every(({ instructions }) => instructions === undefined)).toBe(true);
    seen.push(...page.agents.map(({ name }) => name));
    pageToken = page.nextPageToken ?? "";
  } while (pageToken !== "");
  expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((n) => `Paged (${n})`));
  const even = await rig.dispatch.unary(listAgents, { labels: ["even", "p"] }, as("carl"));
  expect(even.totalSize).toBe(4);
  const builtin = await rig.dispatch.unary(listAgents, { origin: Origin.BUILTIN }, as("carl"));
  expect(builtin.agents.map(({ id }) => id)).toContain(BUILTIN);
  expect(builtin.agents.every(({ origin }) => origin === Origin.BUILTIN)).toBe(true);
  const wrong = rig.dispatch.unary(listAgents, { pageToken: "nonsense" }, as("carl"));
  expect((await refusal(wrong))[0]).toBe("InvalidArgument");
  expect((await refusal(rig.dispatch.unary(listAgents, { pageSize: 101 }, as("carl"))))[0]).toBe("InvalidArgument");
});

test("a caller without core:write reads and does not write", async () => {
  expect((await read("reader", BUILTIN)).id).toBe(BUILTIN);
  expect((await refusal(create("reader", { name: "x" })))[0]).toBe("PermissionDenied");
});

test("manageable agents follow what the caller holds now", async () => {
  const { id } = await create("alice", { name: "Given", sharing: [{ to: "user:reader", tier: Tier.CONFIG }] });
  const managedByReader = () => rig.dispatch.unary(AgentAccessService.method.listManageableAgents, {}, as("reader"));
  expect((await managedByReader()).agents).toEqual([]);
  await update("alice", { agentId: id, share: [{ to: "user:reader", tier: Tier.MANAGE }] });
  const managed = await managedByReader();
  expect(managed).toMatchObject({ agents: [{ id, name: "Given" }], more: false });
  const request = { agentIds: [id, BUILTIN, "no-such-id"] };
  const { tiers } = await rig.dispatch.unary(AgentAccessService.method.getAgentTiers, request, as("reader"));
  expect(tiers).toEqual({ [id]: Tier.MANAGE, [BUILTIN]: Tier.VIEW });
});

test("sharing takes an e-mail address, is stored by id, and refuses whom nobody knows", async () => {
  const sharing = [{ to: "user:bob@example.com", tier: Tier.VIEW }];
  const { id, sharing: shared } = await create("alice", { name: "By address", sharing });
  expect(shared.map(({ to }) => to)).toEqual(["user:bob"]);
  expect((await rig.dispatch.unary(AgentService.method.getAgent, { agentId: id }, as("bob"))).agent?.name).toBe(
    "By address",
  );
  const stranger = update("alice", { agentId: id, share: [{ to: "user:zoe@example.com", tier: Tier.VIEW }] });
  expect(await refusal(stranger)).toEqual([
    "InvalidArgument",
    "unknown user or group: user:zoe@example.com. Name a user by e-mail address or id, and a group by name or id",
  ]);
  expect((await update("alice", { agentId: id, unshare: ["user:bob@example.com"] })).sharing).toEqual([]);
});
