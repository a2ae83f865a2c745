import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { CustomToolService } from "#proto/core/v1/custom_tool_service_pb.js";
import { SkillService } from "#proto/core/v1/skill_service_pb.js";
import { VariableService } from "#proto/core/v1/variable_service_pb.js";
import type { AgentRecord } from "../../../services/core-objects/kinds/agents/record.js";
import type { CustomToolRecord } from "../../../services/core-objects/kinds/custom-tools/record.js";
import { titled } from "../../support/titled.js";
import { as, type Rig, startRig } from "./rig.js";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

const { createAgent, updateAgent } = AgentService.method;
const { createSkill, deleteSkill } = SkillService.method;
let made = 0;

async function newSkill(): Promise<string> {
  const request = { name: `skill-${made++}`, description: "d", instructions: "i" };
  return (await rig.dispatch.unary(createSkill, request, as("alice"))).skill!.id;
}
const attach = (skill: string) =>
  rig.dispatch.unary(createAgent, { name: "Attaches", resourceIds: [skill] }, as("alice")).then(() => "made", codeOf);
const remove = (skillId: string) =>
  rig.dispatch.unary(deleteSkill, { skillId }, as("alice")).then(() => "deleted", codeOf);
const codeOf = (error: { rawMessage: string }): string => error.rawMessage;

/** The agents that refer to a skill that is not there. */
async function dangling(): Promise<readonly string[]> {
  const there = new Set(
    (await rig.store.collection("skills").find({ access: "3:u:alice" }).toArray()).map(({ _id }) => _id),
  );
  const agents = await rig.store.collection<AgentRecord>("agents").find({ access: "3:u:alice" }).toArray();
  return agents.filter(({ skills }) => skills.some((id) => !there.has(id))).map(({ _id }) => _id);
}

// The driver's collections are made anew for whoever asks, and cannot be stepped between.
const other = process.env.MONGODB_URI && "the store is that of MONGODB_URI";
const between: (title: string, run: () => Promise<void>) => void = (title, run) =>
  test.skipIf(other)(titled(title, other), run);

/** Does something once, just before the next call of a method of a collection. */
function before(
  collection: string,
  method: "insertOne" | "deleteOne" | "findOneAndUpdate" | "updateOne",
  act: () => Promise<unknown>,
) {
  const documents = rig.store.collection(collection) as unknown as Record<string, unknown>;
  const real = documents[method] as (...args: unknown[]) => Promise<unknown>;
  documents[method] = async (...args: unknown[]) => {
    documents[method] = real;
    await act();
    return real.apply(documents, args);
  };
}

between("a skill that is deleted while an agent is created with it leaves no agent", async () => {
  const skill = await newSkill();
  before("agents", "insertOne", () => remove(skill));
  expect(await attach(skill)).toContain(`no skill that you can see has the id ${skill}`);
  expect(await dangling()).toEqual([]);
});

between("an agent that is created while its skill is deleted is refused", async () => {
  const skill = await newSkill();
  let outcome = "";
  before("skills", "deleteOne", async () => {
    outcome = await attach(skill);
  });
  expect(await remove(skill)).toBe("deleted");
  expect(outcome).toContain(`no skill that you can see has the id ${skill}`);
  expect(await dangling()).toEqual([]);
});

between("a skill that is deleted while it is added to an agent changes nothing of that", async () => {
  const skill = await newSkill();
  const { agent } = await rig.dispatch.unary(createAgent, { name: "Plain", description: "as it was" }, as("alice"));
  before("agents", "findOneAndUpdate", () => remove(skill));
  const update = { agentId: agent!.id, description: "other", addResourceIds: [skill] };
  expect(await rig.dispatch.unary(updateAgent, update, as("alice")).then(() => "updated", codeOf)).toContain(
    "no skill",
  );
  expect(await rig.store.collection<AgentRecord>("agents").findOne({ _id: agent!.id })).toMatchObject({
    description: "as it was",
    skills: [],
  });
});

between(
  "a variable that is deleted while a header takes it leaves no header, also where others change the tool meanwhile",
  async () => {
    const variable = { name: "TOKEN", value: "v" };
    const { id } = (await rig.dispatch.unary(VariableService.method.createVariable, variable, as("alice"))).variable!;
    const tool = { name: "call", description: "d", method: "get", url: "https://example.com/" };
    const kept = { name: "X-Kept", value: "kept" };
    const made = await rig.dispatch.unary(
      CustomToolService.method.createCustomTool,
      { ...tool, headers: [kept] },
      as("alice"),
    );
    const customToolId = made.customTool!.id;
    const tools = rig.store.collection<CustomToolRecord>("custom_tools");
    before("custom_tools", "findOneAndUpdate", () =>
      rig.dispatch.unary(VariableService.method.deleteVariable, { variableId: id }, as("alice")),
    );
    before("custom_tools", "updateOne", () =>
      tools.findOneAndUpdate(
        { _id: customToolId },
        { $set: { description: "by another", etag: "other" } },
        { returnDocument: "after" },
      ),
    );
    const update = { customToolId, putHeaders: [{ name: "Authorization", variableId: id }] };
    const refused = rig.dispatch.unary(CustomToolService.method.updateCustomTool, update, as("alice"));
    expect(await refused.then(() => "updated", codeOf)).toContain("no variable that you can see");
    const after = await tools.findOne({ _id: customToolId });
    expect(after?.description).toBe("by another");
    expect(after?.headers.map(({ name }) => name)).toEqual(["X-Kept"]);
  },
);

test("a deletion that is refused leaves the skill to be attached again", async () => {
  const skill = await newSkill();
  expect(await attach(skill)).toBe("made");
  expect(await remove(skill)).toContain("agents use this skill");
  expect(await attach(skill)).toBe("made");
});

test("of creations and deletions at once none leaves an agent without its skill", async () => {
  for (let round = 0; round < 10; round++) {
    const skill = await newSkill();
    await Promise.all([attach(skill), remove(skill), attach(skill), remove(skill)]);
  }
  expect(await dangling()).toEqual([]);
});
