import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentSchema, AgentService } from "#proto/core/v1/agent_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import { SkillService } from "#proto/core/v1/skill_service_pb.js";
import { type Kind, openContext } from "../../../services/core-objects/context.js";
import type { AgentRecord } from "../../../services/core-objects/kinds/agents/record.js";
import { defineKind } from "../../../services/core-objects/objects/define-kind.js";
import type { ObjectRecord } from "../../../services/core-objects/record.js";
import { loadKinds } from "../../../services/core-objects/service.js";
import { openEmbeddedStore } from "../../../services/shared/store/embedded/embedded.js";
import type { Store } from "../../../services/shared/store/store.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { as, type Rig, SEAL, startRig } from "./rig.js";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

const PRINCIPALS = { of: async () => [], ofNames: async () => ({ ids: [], unknown: [] }), groupsOf: async () => [] };
const NONE = {
  create: async () => ({ delegation: "", key: null }),
  exchange: () => Promise.reject(),
  end: async () => undefined,
};
const AROUND = {
  principals: PRINCIPALS,
  seal: SEAL,
  delegations: NONE,
  traceUsage: async () => Promise.reject(new Error("no traces")),
  auditUsage: async () => Promise.reject(new Error("no audit")),
  people: { find: async () => undefined },
  audit: async () => [],
  reachChanged: async () => undefined,
  wakeWorker: () => undefined,
};

async function withStore(use: (store: Store) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "kinds-"));
  const store = await openEmbeddedStore(folder);
  try {
    await use(store);
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

test("what an object refers to is shown by name to those who can see it, and by its id alone to others", async () => {
  const skill = async (name: string, tier?: Tier) => {
    const request = { name, description: "d", instructions: "i" };
    const sharing = tier === undefined ? [] : [{ to: "user:bob", tier }];
    return (await rig.dispatch.unary(SkillService.method.createSkill, { ...request, sharing }, as("alice"))).skill!.id;
  };
  const [hidden, shared] = [await skill("hidden-one"), await skill("shared-one", Tier.VIEW)];
  const sharing = [{ to: "user:bob", tier: Tier.VIEW }];
  const { createKnowledgeBase } = KnowledgeBaseService.method;
  const { knowledgeBase } = await rig.dispatch.unary(createKnowledgeBase, { name: "kb", sharing }, as("alice"));
  const { agent } = await rig.dispatch.unary(
    AgentService.method.createAgent,
    {
      name: "Refers",
      resourceIds: [hidden, "builtin.assess-compliance", shared, knowledgeBase!.id],
      sharing: [{ to: "user:bob", tier: Tier.CONFIG }],
    },
    as("alice"),
  );
  const seenBy = async (who: string) => {
    const read = await rig.dispatch.unary(AgentService.method.getAgent, { agentId: agent!.id }, as(who));
    const { skills, knowledgeBases, owner } = read.agent!;
    const { agents } = await rig.dispatch.unary(AgentService.method.listAgents, { query: "Refers" }, as(who));
    expect(agents).toMatchObject([
      { id: agent!.id, owner: { id: owner!.id }, skills: [], knowledgeBases: [], etag: "" },
    ]);
    return [...skills, ...knowledgeBases, owner].map((one) => [one?.id, one?.name]);
  };
  const named = [
    ["builtin.assess-compliance", "assess-compliance"],
    [shared, "shared-one"],
    [knowledgeBase!.id, "kb"],
  ];
  expect(await seenBy("alice")).toEqual([[hidden, "hidden-one"], ...named, ["alice", "alice"]]);
  expect(await seenBy("bob")).toEqual([[hidden, undefined], ...named, ["alice", undefined]]);

  const update = { agentId: agent!.id, description: "kept", removeResourceIds: [shared] };
  const updated = await rig.dispatch.unary(AgentService.method.updateAgent, update, as("bob"));
  expect(updated.agent?.skills.map(({ id }) => id)).toEqual([hidden, "builtin.assess-compliance"]);
});

test("total_size is told where the first page holds them all, and not counted elsewhere", async () => {
  const agents = rig.store.collection<AgentRecord>("agents");
  const template = (await agents.findOne({ _id: "builtin.threat-analyst" }))!;
  const access = ["1:u:carl", "2:u:carl", "3:u:carl"];
  const one = (n: number) => ({ ...template, _id: `many-${n}`, request: `many-${n}`, origin: "user" as const, access });
  await agents.insertMany([one(0), one(1)]);
  const list = (request: object) =>
    rig.dispatch.unary(AgentService.method.listAgents, { origin: 3, ...request }, as("carl"));
  expect((await list({})).totalSize).toBe(2);
  const first = await list({ pageSize: 1 });
  expect([first.agents.length, first.totalSize]).toEqual([1, undefined]);
  const { nextPageToken, totalSize } = await list({ pageSize: 1, pageToken: first.nextPageToken });
  expect([nextPageToken, totalSize]).toEqual([undefined, undefined]);
});

test("a kind that refers to one that there is not stops the start", () =>
  withStore(async (store) => {
    const lost = (await loadKinds()).map((kind): Kind => ({ ...kind, references: { skills: "skil" } }));
    await expect(openContext(store, lost, AROUND)).rejects.toThrow("there is no kind skil; there are agent, ");
  }));

test("the compiler holds a definition to its messages", () => {
  const { listAgents, getAgent } = AgentService.method;
  const { listSkills } = SkillService.method;
  interface Bare extends ObjectRecord {
    readonly model: string;
  }
  const others = {
    knowledgeBases: [],
    prompts: [],
    variables: [],
    customTools: [],
    mcpServers: [],
    integration: undefined,
    askTools: [],
    version: undefined,
    parameters: undefined,
    fallbackModel: undefined,
    fallbackIntegration: undefined,
  };
  const view = ({ model }: Bare) => ({ model, instructions: "", tools: [], skills: [], ...others });
  const words = { noun: "agent", plural: "agents", message: AgentSchema } as const;
  defineKind({ ...words, view, list: { rpc: listAgents, without: ["model"] }, get: { rpc: getAgent } });
  // @ts-expect-error a member of the message is forgotten
  defineKind({ ...words, view: ({ model }: Bare) => ({ model, instructions: "", tools: [], skills: [] }) });
  // @ts-expect-error a list of another kind
  defineKind({ ...words, view, list: { rpc: listSkills } });
  // @ts-expect-error a request that names another kind's id
  defineKind({ ...words, noun: "skill", view, get: { rpc: getAgent } });
  // @ts-expect-error a field that the record has not
  defineKind({ ...words, view, limits: { tools: 3 } });
  const shown = ({ instructions, model }: AgentRecord) => ({
    instructions,
    model,
    tools: [],
    skills: [],
    ...others,
  });
  defineKind({ ...words, view: shown, list: { rpc: listAgents, without: ["instructions"] } });
  // @ts-expect-error a list without items that it shows
  defineKind({ ...words, view: shown, list: { rpc: listAgents, without: ["tools"] } });
  // @ts-expect-error likewise, by another name
  defineKind({ ...words, view: shown, list: { rpc: listAgents, without: ["knowledge_bases"] } });
  expect(defineKind({ ...words, view }).collection.name).toBe("agents");
});

test("every capability that a tool of core needs is one that a kind gives", async () => {
  const given = (await loadKinds()).flatMap(({ capabilities }) => capabilities.map(({ name }) => name));
  const needed = readTools(readImage()).flatMap(({ server, needs }) => (server === "core" ? needs : []));
  expect(needed.length).toBeGreaterThan(0);
  expect(needed.filter((need) => !given.includes(need))).toEqual([]);
});
