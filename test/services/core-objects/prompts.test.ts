import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type CreatePromptRequestSchema,
  PromptService,
  type UpdatePromptRequestSchema,
} from "#proto/core/v1/prompt_service_pb.js";
import { Origin, Tier } from "#proto/core/v1/sharing_pb.js";
import { readPrompt } from "../../../services/core-objects/kinds/prompts/builtin.js";
import { refusal } from "./refusal.js";
import { as, type Rig, startRig } from "./rig.js";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

const { listPrompts, getPrompt, renderPrompt, createPrompt, updatePrompt, deletePrompt } = PromptService.method;
const HOST = { name: "host", description: "Which host.", required: true };
const WHY = { name: "why", description: "Why.", required: false };
const TRIAGE = { name: "triage", template: "Triage {{host}}. {{ why }}", arguments: [HOST, WHY] };

const create = async (who: string, request: MessageInitShape<typeof CreatePromptRequestSchema>) =>
  (await rig.dispatch.unary(createPrompt, request, as(who))).prompt!;
const update = async (who: string, request: MessageInitShape<typeof UpdatePromptRequestSchema>) =>
  (await rig.dispatch.unary(updatePrompt, request, as(who))).prompt!;
const read = (who: string, promptId: string, version?: number) =>
  rig.dispatch.unary(getPrompt, { promptId, ...(version && { version }) }, as(who));
const render = async (who: string, prompt: string, given: Record<string, string> = {}, version?: number) =>
  (await rig.dispatch.unary(renderPrompt, { prompt, arguments: given, ...(version && { version }) }, as(who))).text;

test("a prompt is filled in by its name or id, what need not be given is empty", async () => {
  const { id } = await create("alice", TRIAGE);
  expect(await render("alice", "triage", { host: "db-1", why: "It beacons." })).toBe("Triage db-1. It beacons.");
  expect(await render("alice", id, { host: "db-1" })).toBe("Triage db-1. ");
  expect(await render("alice", id, { host: "{{why}} $& {{host}}", why: "x" })).toBe("Triage {{why}} $& {{host}}. x");
  expect(await refusal(render("alice", id))).toEqual([
    "InvalidArgument",
    "the prompt needs host; its arguments are host, why",
  ]);
  expect(await refusal(render("alice", id, { host: "a", hots: "b" }))).toEqual([
    "InvalidArgument",
    "the prompt has no argument hots; its arguments are host, why",
  ]);
});

test("template and arguments name each other, whichever of them changes", async () => {
  expect(await refusal(create("alice", { ...TRIAGE, arguments: [HOST] }))).toEqual([
    "InvalidArgument",
    "the template uses why, which arguments does not have: add it to arguments",
  ]);
  expect((await refusal(create("alice", { ...TRIAGE, template: "Triage {{host}}" })))[1]).toBe(
    "the template does not use why: write {{why}} in it, or omit the argument",
  );
  const { id } = await create("alice", TRIAGE);
  expect((await refusal(update("alice", { promptId: id, removeArguments: ["why"] })))[0]).toBe("InvalidArgument");
  expect((await refusal(update("alice", { promptId: id, removeArguments: ["hots"] })))[1]).toBe(
    "the prompt has no argument hots to remove",
  );
  const after = await update("alice", { promptId: id, template: "Triage {{host}}", removeArguments: ["why"] });
  expect([after.version, after.arguments.map(({ name }) => name)]).toEqual([2, ["host"]]);
});

test("other braces are text", async () => {
  const template = "{{#each}} {{ 1 }} { {x} } {{}} {{{{host}}}}";
  const { id } = await create("alice", { name: "braces", template, arguments: [HOST] });
  expect(await render("alice", id, { host: "h" })).toBe("{{#each}} {{ 1 }} { {x} } {{}} {{h}}");
});

test("another text makes a version, anything else none; twenty before the latest can be read", async () => {
  const { id } = await create("alice", { ...TRIAGE, sharing: [{ to: "user:bob", tier: Tier.CONFIG }] });
  expect((await update("alice", { promptId: id, description: "d", putArguments: [HOST] })).version).toBe(1);
  await update("bob", { promptId: id, putArguments: [{ ...HOST, description: "Its name." }] });
  for (let n = 3; n <= 23; n++) await update("alice", { promptId: id, template: `${n}: {{host}} {{why}}` });
  const { prompt, versions } = await read("alice", id);
  expect([prompt?.version, prompt?.template]).toEqual([23, "23: {{host}} {{why}}"]);
  expect(versions.map(({ version }) => version)).toEqual(Array.from({ length: 21 }, (_, i) => 23 - i));
  expect(versions.at(-1)).toMatchObject({ version: 3, author: { id: "alice", name: "alice" } });
  expect((await read("bob", id, 5)).prompt).toMatchObject({ version: 5, template: "5: {{host}} {{why}}" });
  expect(await render("bob", id, { host: "h", why: "w" }, 4)).toBe("4: h w");
  expect(await refusal(read("alice", id, 2))).toEqual([
    "NotFound",
    "the prompt triage has no version 2: it has versions 3 to 23",
  ]);
  expect((await refusal(render("alice", id, { host: "h" }, 24)))[0]).toBe("NotFound");
});

test("who made a version stays known when another changes the prompt", async () => {
  const { id } = await create("alice", { ...TRIAGE, sharing: [{ to: "user:bob", tier: Tier.CONFIG }] });
  await update("bob", { promptId: id, template: "{{host}} {{why}}" });
  const { versions } = await read("alice", id);
  expect(versions.map(({ author }) => author?.id)).toEqual(["bob", "alice"]);
});

test("a text that grows beyond its bound is refused before it is made", async () => {
  const { id } = await create("alice", { name: "many", template: "{{host}}".repeat(8_000), arguments: [HOST] });
  expect((await refusal(render("alice", id, { host: "x".repeat(20_000) })))[1]).toContain("200000 characters");
});

test("built-in prompts are there for everyone, and say what they take", async () => {
  const { prompts } = await rig.dispatch.unary(listPrompts, { origin: Origin.BUILTIN }, as("carl"));
  expect(prompts.map(({ id }) => id).sort()).toEqual([
    "builtin.explain-a-gap",
    "builtin.hand-over-a-shift",
    "builtin.summarise-a-report",
  ]);
  for (const { id, name } of prompts) {
    const { prompt, versions } = await read("carl", id);
    expect(versions).toHaveLength(1);
    expect(prompt!.arguments.every(({ description }) => description !== "")).toBe(true);
    const given = Object.fromEntries(prompt!.arguments.map((argument) => [argument.name, `<${argument.name}>`]));
    const text = await render("carl", name, given);
    for (const value of Object.values(given)) expect(text).toContain(value);
    expect(text).not.toContain("{{");
    expect((await refusal(update("root", { promptId: id, template: "x" })))[0]).toBe("PermissionDenied");
  }
});

test("lists are without texts, and a disabled prompt is not filled in", async () => {
  const { id } = await create("carl", { ...TRIAGE, name: "carls", labels: ["x"] });
  const { prompts } = await rig.dispatch.unary(listPrompts, { labels: ["x"] }, as("carl"));
  expect(prompts).toMatchObject([{ id, version: 1, arguments: [], etag: "" }]);
  expect(prompts[0]).not.toHaveProperty("template");
  await update("carl", { promptId: id, enabled: false });
  expect(await refusal(render("carl", "carls", { host: "h" }))).toEqual([
    "FailedPrecondition",
    "the prompt carls is disabled",
  ]);
  await rig.dispatch.unary(deletePrompt, { promptId: id }, as("carl"));
  expect(await refusal(render("carl", "carls"))).toEqual([
    "NotFound",
    "no prompt that you can see is named carls; list_prompts returns the names",
  ]);
});

test("a prompt that ships and does not fit its arguments is refused with its file", () => {
  const folder = mkdtempSync(join(tmpdir(), "prompts-"));
  const path = join(folder, "odd.md");
  writeFileSync(
    path,
    '---\nname: odd\ndescription: d\nlabels: []\narguments:\n  host: "Which."\noptional: []\n---\nSay {{hots}}.\n',
  );
  try {
    expect(() => readPrompt(path)).toThrow(
      `${path}:6: arguments the template uses hots, which arguments does not have: add it to arguments`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
