import type { MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  AgentService,
  type CreateAgentRequestSchema,
  type UpdateAgentRequestSchema,
} from "#proto/core/v1/agent_service_pb.js";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import { SkillService } from "#proto/core/v1/skill_service_pb.js";
import type { AgentRecord } from "../../../services/core-objects/kinds/agents/record.js";
import { as, type Rig, startRig } from "./rig.js";

// Versions of an agent: made when its runs work with something else, compared, and gone back to.

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

const { getAgent, createAgent, updateAgent, listAgents } = AgentService.method;

async function create(request: MessageInitShape<typeof CreateAgentRequestSchema>, who = "alice") {
  return (await rig.dispatch.unary(createAgent, request, as(who))).agent!;
}
async function update(request: MessageInitShape<typeof UpdateAgentRequestSchema>, who = "alice") {
  return (await rig.dispatch.unary(updateAgent, request, as(who))).agent!;
}
const get = (agentId: string, more: object = {}, who = "alice") =>
  rig.dispatch.unary(getAgent, { agentId, ...more }, as(who));
async function skill(name: string): Promise<string> {
  const request = { name, description: "A skill.", instructions: "Do it." };
  return (await rig.dispatch.unary(SkillService.method.createSkill, request as never, as("alice"))).skill!.id;
}
const stored = async (id: string) => (await rig.store.collection<AgentRecord>("agents").findOne({ _id: id }))!;

test("a version is made when runs work with something else, and not by a name, a label or the same again", async () => {
  const agent = await create({ name: "Triage", instructions: "Look.", model: "large" });
  expect(agent.version).toBe(1);
  const same = { agentId: agent.id, name: "Triage 2", addLabels: ["soc"], instructions: "Look.", enabled: true };
  expect((await update(same)).version).toBe(1);
  expect((await update({ agentId: agent.id, instructions: "Look twice." })).version).toBe(2);
  expect((await update({ agentId: agent.id, addTools: ["cti/search_entities"] })).version).toBe(3);
  const { versions, agent: first } = await get(agent.id, { version: 1 });
  expect(versions.map(({ version, author }) => [version, author?.id])).toEqual([
    [3, "alice"],
    [2, "alice"],
    [1, "alice"],
  ]);
  expect(first).toMatchObject({ version: 1, instructions: "Look.", tools: [], name: "Triage 2" });
  expect((await get(agent.id)).versions).toEqual([]);
  const { agents } = await rig.dispatch.unary(listAgents, { query: "Triage 2" }, as("alice"));
  expect([agents[0]?.id, agents[0]?.version]).toEqual([agent.id, undefined]);
  await expect(get(agent.id, { version: 9 })).rejects.toThrow("has no version 9: it has 3, 2, 1");
});

test("two versions are compared in few bytes: lines, items and names", async () => {
  const [one, two] = [await skill("read-mail"), await skill("write-mail")];
  const long = Array.from({ length: 400 }, (_, n) => `Rule ${n}: ${"do this ".repeat(20)}`);
  const agent = await create({
    name: "Mail",
    instructions: long.join("\n"),
    tools: ["cti/search_entities"],
    resourceIds: [one],
  });
  await update({
    agentId: agent.id,
    instructions: [...long.slice(0, 200), "Rule 200: stop.", ...long.slice(201)].join("\n"),
    model: "large",
    addTools: ["cti/create_*"],
    removeTools: ["cti/search_entities"],
    addAskTools: ["cti/create_*"],
    addResourceIds: [two],
    removeResourceIds: [one],
  });
  const answer = await get(agent.id, { compareTo: 1 });
  expect(answer.agent).toMatchObject({ id: agent.id, name: "Mail", version: 2 });
  expect(answer.agent!.instructions).toBeUndefined();
  expect(Object.fromEntries(answer.changes.map(({ field, removed, added }) => [field, [removed, added]]))).toEqual({
    instructions: [[expect.stringMatching(/^Rule 200: do this/)], ["Rule 200: stop."]],
    model: [[], ["large"]],
    tools: [["cti/search_entities"], ["cti/create_*"]],
    ask_tools: [[], ["cti/create_*"]],
    skills: [[`read-mail (${one})`], [`write-mail (${two})`]],
  });
  expect(JSON.stringify(answer.changes).length).toBeLessThan(1_500);
  const back = await get(agent.id, { version: 1, compareTo: 2 });
  expect(back.changes.find(({ field }) => field === "model")).toMatchObject({ removed: ["large"], added: [] });
  expect((await get(agent.id, { version: 2, compareTo: 2 })).changes).toEqual([]);
});

test("going back makes a new version equal to the old one, and other changes are applied to it", async () => {
  const used = await skill("go-back");
  const agent = await create({ name: "Back", instructions: "One.", tools: ["cti/whoami"], resourceIds: [used] });
  const changed = { instructions: "Two.", removeTools: ["cti/whoami"], removeResourceIds: [used], model: "large" };
  await update({ agentId: agent.id, ...changed });
  const again = await update({ agentId: agent.id, restoreVersion: 1 });
  expect(again).toMatchObject({ version: 3, instructions: "One.", model: "", tools: ["cti/whoami"] });
  expect(again.skills.map(({ id }) => id)).toEqual([used]);
  expect((await get(agent.id, { compareTo: 1 })).changes).toEqual([]);
  const more = await update({ agentId: agent.id, restoreVersion: 2, model: "small", addTools: ["grc/whoami"] });
  expect(more).toMatchObject({ version: 4, instructions: "Two.", model: "small", tools: ["grc/whoami"], skills: [] });
});

test("what is gone is named before anything is written, and is left out if that is asked for", async () => {
  const [gone, kept] = [await skill("soon-gone"), await skill("still-there")];
  const agent = await create({ name: "Parts", instructions: "One.", resourceIds: [gone, kept] });
  await update({ agentId: agent.id, instructions: "Two.", removeResourceIds: [gone, kept] });
  await rig.dispatch.unary(SkillService.method.deleteSkill, { skillId: gone }, as("alice"));
  const before = await stored(agent.id);
  const refused = update({ agentId: agent.id, restoreVersion: 1 });
  await expect(refused).rejects.toThrow(
    `version 1 uses what is gone or not shared with you: skill ${gone}. Nothing was changed`,
  );
  expect(await stored(agent.id)).toEqual(before);
  const back = await update({ agentId: agent.id, restoreVersion: 1, removeResourceIds: [gone] });
  expect([back.version, back.skills.map(({ id }) => id)]).toEqual([3, [kept]]);
});

test("old versions are for those who can change the agent; a viewer sees the number, a stranger nothing", async () => {
  const share = [
    { to: "user:bob", tier: Tier.CONFIG },
    { to: "user:reader", tier: Tier.VIEW },
  ];
  const agent = await create({ name: "Shared", instructions: "The old secret.", sharing: [share[0]!] });
  await update({ agentId: agent.id, instructions: "New.", share: [{ to: "user:root", tier: Tier.VIEW }] });
  expect((await get(agent.id, { version: 1 }, "bob")).agent!.instructions).toBe("The old secret.");
  expect((await update({ agentId: agent.id, restoreVersion: 1 }, "bob")).version).toBe(3);
  expect((await get(agent.id, {}, "root")).agent!.version).toBe(3);
  await expect(get(agent.id, { version: 1 }, "root")).rejects.toThrow("need the config tier");
  await expect(get(agent.id, { compareTo: 1 }, "root")).rejects.toThrow("need the config tier");
  await expect(update({ agentId: agent.id, restoreVersion: 2 }, "root")).rejects.toThrow("only to view");
  await expect(get(agent.id, { version: 1 }, "carl")).rejects.toThrow("no agent that you can see");
  await expect(get("builtin.threat-analyst", { version: 1 })).rejects.toThrow("built-in agents have no versions");
});

test("versions are bounded, and what they take is counted and given back", async () => {
  const agent = await create({ name: "Many", instructions: "0" });
  for (let n = 1; n <= 24; n++) await update({ agentId: agent.id, instructions: `${n}` });
  const record = await stored(agent.id);
  expect([record.version, record.history?.length, record.history?.at(-1)?.version]).toEqual([25, 20, 5]);
  const big = await create({ name: "Big", instructions: "x".repeat(90_000) });
  const before = (await stored(big.id)).taken!;
  for (let n = 1; n <= 4; n++) await update({ agentId: big.id, instructions: `${n}${"x".repeat(90_000)}` });
  const after = await stored(big.id);
  expect(after.history!.length).toBe(2);
  expect(after.taken! - before).toBeGreaterThan(180_000);
  expect(after.taken! - before).toBeLessThan(190_000);
});

test("an agent of before there were versions is version 1, and a run names the version that it works with", async () => {
  const { id } = await create({ name: "Old", instructions: "Old." });
  const agents = rig.store.collection<AgentRecord>("agents");
  await agents.updateOne({ _id: id }, { $unset: { version: "", versioned_at: "", author: "", history: "" } });
  expect((await get(id)).agent!.version).toBe(1);
  expect((await update({ agentId: id, instructions: "New." })).version).toBe(2);
  const { versions, agent } = await get(id, { version: 1 });
  expect([versions.map(({ version }) => version), agent!.instructions]).toEqual([[2, 1], "Old."]);
  for await (const { event } of rig.dispatch.stream(
    RunService.method.triggerRun,
    { agentId: id, input: "Go." },
    as("alice"),
  ))
    if (event.case === "result") expect(event.value.run!.agentVersion).toBe(2);
});
