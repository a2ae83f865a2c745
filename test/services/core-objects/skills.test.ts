import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { CapabilityService } from "#proto/core/v1/capability_service_pb.js";
import { Origin, Tier } from "#proto/core/v1/sharing_pb.js";
import { type CreateSkillRequestSchema, SkillService } from "#proto/core/v1/skill_service_pb.js";
import { as, type Rig, startRig } from "./rig.js";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

const { listSkills, loadSkill, readSkillResource, createSkill, updateSkill, deleteSkill } = SkillService.method;

async function create(who: string, request: Partial<MessageInitShape<typeof CreateSkillRequestSchema>>) {
  const whole = { description: "Does it. Use when needed.", instructions: "# Do it", ...request };
  return (await rig.dispatch.unary(createSkill, whole as never, as(who))).skill!;
}
const load = (who: string, skill: string) => rig.dispatch.unary(loadSkill, { skill }, as(who));

async function refusal(call: Promise<unknown>): Promise<[string, string]> {
  const error = ConnectError.from(
    await call.then(
      () => new Error("nothing was refused"),
      (reason) => reason,
    ),
  );
  return [Code[error.code]!, error.rawMessage];
}

test("a built-in skill is loaded by its name, with its files to read", async () => {
  const { skill, instructions, resources } = await load("carl", "investigate-an-indicator");
  expect(skill).toMatchObject({ origin: Origin.BUILTIN, yourAccess: Tier.VIEW, labels: ["cti", "triage"] });
  expect(instructions).toMatch(/^# Investigate an indicator/);
  expect(resources.map(({ path }) => path)).toEqual(["references/markings.md"]);
  const request = { skill: "builtin.investigate-an-indicator", path: "references/markings.md" };
  const page = await rig.dispatch.unary(readSkillResource, request, as("carl"));
  expect(page).toMatchObject({ page: 1, pageCount: 1, totalBytes: resources[0]!.bytes });
  expect(page.text).toContain("TLP:AMBER+STRICT");
});

test("every built-in skill keeps the rules of the Agent Skills standard", async () => {
  const { skills } = await rig.dispatch.unary(listSkills, { origin: Origin.BUILTIN }, as("carl"));
  expect(skills.length).toBeGreaterThanOrEqual(3);
  for (const { id, name, description } of skills) {
    expect(id).toBe(`builtin.${name}`);
    expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(description.length).toBeLessThanOrEqual(200);
    const loaded = await load("carl", name);
    expect(loaded.skill!.description.length).toBeLessThanOrEqual(1024);
    expect(loaded.skill!.description).toContain("Use when");
    expect(loaded.instructions.split("\n").length).toBeLessThan(500);
  }
});

test("a resource is paged without splitting a character and its pages join to the whole", async () => {
  const text = "überprüfen 🛡️ ".repeat(400);
  const { id } = await create("alice", { name: "paged", files: [{ path: "references/long.md", text }] });
  const read = (page: number) =>
    rig.dispatch.unary(
      readSkillResource,
      { skill: id, path: "references/long.md", page, pageBytes: 1024 },
      as("alice"),
    );
  const first = await read(1);
  expect(first).toMatchObject({ page: 1, totalBytes: Buffer.byteLength(text) });
  const pages = await Promise.all(Array.from({ length: first.pageCount }, (_, i) => read(i + 1)));
  expect(pages.map((page) => page.text).join("")).toBe(text);
  expect((await refusal(read(first.pageCount + 1)))[0]).toBe("InvalidArgument");
});

test("no path leads out of a skill, neither written nor read", async () => {
  for (const path of [
    "../x",
    "a/../../x",
    "/etc/passwd",
    "a//b",
    ".hidden",
    "C:\\x",
    "a\\b",
    "SKILL.md",
    "a/",
    "a\0b",
  ]) {
    const [code] = await refusal(create("alice", { name: "escape", files: [{ path, text: "x" }] }));
    expect([path, code]).toEqual([path, "InvalidArgument"]);
  }
  for (const path of ["../investigate-an-indicator/SKILL.md", "../../routes.ts", "/etc/passwd", "SKILL.md"]) {
    const request = { skill: "assess-compliance", path };
    expect((await refusal(rig.dispatch.unary(readSkillResource, request, as("alice"))))[0]).toBe("NotFound");
  }
});

test("names keep the standard's rule", async () => {
  for (const name of ["", "Upper", "-a", "a-", "a--b", "a_b", "a".repeat(65)]) {
    expect((await refusal(create("alice", { name })))[0]).toBe("InvalidArgument");
  }
});

test("a private skill is not found by others; a shared one is loaded and not changed", async () => {
  const { id, name } = await create("alice", { name: "alices-own" });
  for (const key of [id, name]) expect((await refusal(load("bob", key)))[0]).toBe("NotFound");
  await rig.dispatch.unary(updateSkill, { skillId: id, share: [{ to: "group:soc", tier: Tier.VIEW }] }, as("alice"));
  expect((await load("bob", name)).skill?.yourAccess).toBe(Tier.VIEW);
  const change = rig.dispatch.unary(updateSkill, { skillId: id, instructions: "other" }, as("bob"));
  expect((await refusal(change))[0]).toBe("PermissionDenied");
  expect((await refusal(rig.dispatch.unary(deleteSkill, { skillId: id }, as("bob"))))[0]).toBe("PermissionDenied");
  const builtin = rig.dispatch.unary(
    updateSkill,
    { skillId: "builtin.assess-compliance", instructions: "x" },
    as("root"),
  );
  expect((await refusal(builtin))[0]).toBe("PermissionDenied");
});

test("a name that several visible skills have is settled by id, and a disabled skill is not loaded", async () => {
  const mine = await create("bob", { name: "twice" });
  const company = await create("root", { name: "twice", companyManaged: true });
  const [code, message] = await refusal(load("bob", "twice"));
  expect(code).toBe("InvalidArgument");
  expect(message).toContain(`${mine.id} (yours)`);
  expect(message).toContain(company.id);
  expect((await load("bob", mine.id)).skill?.id).toBe(mine.id);
  expect((await load("carl", "twice")).skill?.id).toBe(company.id);
  await rig.dispatch.unary(updateSkill, { skillId: mine.id, enabled: false }, as("bob"));
  expect((await load("bob", "twice")).skill?.id).toBe(company.id);
  expect((await refusal(load("bob", mine.id)))[0]).toBe("FailedPrecondition");
});

test("what others share does not get in the way of a built-in or a person's own skill of that name", async () => {
  const name = "investigate-an-indicator";
  await create("bob", { name, sharing: [{ to: "everyone", tier: Tier.VIEW }] });
  expect((await load("carl", name)).skill?.origin).toBe(Origin.BUILTIN);
  const sharing = [{ to: "everyone", tier: Tier.VIEW }];
  const theirs = await create("bob", { name: "hunt", sharing });
  expect((await load("carl", "hunt")).skill?.id).toBe(theirs.id);
  const own = await create("carl", { name: "hunt" });
  expect((await load("carl", "hunt")).skill?.id).toBe(own.id);
});

test("an update that changes nothing is refused and leaves the etag", async () => {
  const skill = await create("alice", { name: "unchanged" });
  const request = { skillId: skill.id, etag: skill.etag };
  expect(await refusal(rig.dispatch.unary(updateSkill, request, as("alice")))).toEqual([
    "InvalidArgument",
    "give at least one field to change",
  ]);
  const agent = (await rig.dispatch.unary(AgentService.method.createAgent, { name: "Unchanged" }, as("alice"))).agent!;
  const update = rig.dispatch.unary(AgentService.method.updateAgent, { agentId: agent.id }, as("alice"));
  expect((await refusal(update))[1]).toBe("give at least one field to change");
  expect((await rig.dispatch.unary(AgentService.method.getAgent, { agentId: agent.id }, as("alice"))).agent?.etag).toBe(
    agent.etag,
  );
});

test("files are put and removed by path", async () => {
  const { id } = await create("alice", {
    name: "files",
    files: [
      { path: "references/a.md", text: "1" },
      { path: "b.txt", text: "2" },
    ],
  });
  const change = { skillId: id, putFiles: [{ path: "b.txt", text: "three" }], removeFiles: ["references/a.md"] };
  await rig.dispatch.unary(updateSkill, change, as("alice"));
  const { resources } = await load("alice", id);
  expect(resources.map(({ path, bytes }) => [path, bytes])).toEqual([["b.txt", 5]]);
  const gone = rig.dispatch.unary(updateSkill, { skillId: id, removeFiles: ["nothing.md"] }, as("alice"));
  expect((await refusal(gone))[0]).toBe("InvalidArgument");
});

test("nobody takes over an id by naming a skill so", async () => {
  const skill = await create("alice", { name: "trusted", sharing: [{ to: "everyone", tier: Tier.VIEW }] });
  await create("carl", { name: skill.id, sharing: [{ to: "everyone", tier: Tier.VIEW }] });
  expect((await load("bob", skill.id)).skill?.name).toBe("trusted");
  await rig.dispatch.unary(updateSkill, { skillId: skill.id, enabled: false }, as("alice"));
  expect((await refusal(load("bob", skill.id)))[0]).toBe("FailedPrecondition");
  await rig.dispatch.unary(deleteSkill, { skillId: skill.id }, as("alice"));
  expect((await refusal(load("bob", skill.id)))[0]).toBe("NotFound");
});

test("disabled skills do not crowd out an enabled one of the same name", async () => {
  const everyone = [{ to: "everyone", tier: Tier.VIEW }];
  for (let i = 0; i < 11; i++) await create("carl", { name: "crowded", enabled: false, sharing: everyone });
  const own = await create("alice", { name: "crowded", sharing: everyone });
  expect((await load("bob", "crowded")).skill?.id).toBe(own.id);
});

test("the capability to load skills is held while an enabled skill is visible", async () => {
  const bare = await startRig();
  try {
    const held = async (who: string) =>
      (await bare.dispatch.unary(CapabilityService.method.getCapabilities, {}, as(who))).capabilities;
    expect(await held("carl")).toEqual(["skill"]);
    await bare.store.collection("skills").deleteMany({ access: "1:all", origin: "builtin" } as never);
    expect(await held("carl")).toEqual([]);
    const request = { name: "s", description: "d", instructions: "i", sharing: [{ to: "everyone", tier: Tier.VIEW }] };
    const { skill } = await bare.dispatch.unary(createSkill, request, as("alice"));
    expect(await held("carl")).toEqual(["skill"]);
    await bare.dispatch.unary(updateSkill, { skillId: skill!.id, enabled: false }, as("alice"));
    expect(await held("carl")).toEqual([]);
  } finally {
    await bare.close();
  }
});

test("deleting a skill that agents use names those the caller can see and counts the others", async () => {
  const skill = await create("alice", { name: "in-use", sharing: [{ to: "user:bob", tier: Tier.VIEW }] });
  const agent = async (who: string) => {
    const request = { name: `${who} uses it`, resourceIds: [skill.id] };
    return (await rig.dispatch.unary(AgentService.method.createAgent, request, as(who))).agent!;
  };
  const mine = await agent("alice");
  const hidden = await agent("bob");
  const [code, message] = await refusal(rig.dispatch.unary(deleteSkill, { skillId: skill.id }, as("alice")));
  expect(code).toBe("FailedPrecondition");
  expect(message).toContain(`alice uses it (${mine.id})`);
  expect(message).toContain("1 that you cannot see");
  expect(message).not.toContain(hidden.id);
  await rig.dispatch.unary(AgentService.method.deleteAgent, { agentId: mine.id }, as("alice"));
  await rig.dispatch.unary(
    AgentService.method.updateAgent,
    { agentId: hidden.id, removeResourceIds: [skill.id] },
    as("bob"),
  );
  await rig.dispatch.unary(deleteSkill, { skillId: skill.id }, as("alice"));
  expect((await refusal(load("alice", skill.id)))[0]).toBe("NotFound");
});
