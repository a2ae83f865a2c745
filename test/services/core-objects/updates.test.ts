import type { DescMethodUnary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveTool } from "../../../facade/catalogue/served-tool.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { EVERY_KIND } from "./every-kind.js";
import { refusal } from "./refusal.js";
import { as, type Rig, startRig } from "./rig.js";

// What every kind answers to an update that gives nothing, contradicts itself, comes too late, or is of what is not
// there, and to texts in which nothing can be read.

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

const TOOLS = new Map(
  readTools(readImage()).flatMap((tool) => (tool.server === "core" ? [[tool.name, serveTool(tool)] as const] : [])),
);

function call(name: string, args: object): Promise<Record<string, { readonly id: string; readonly etag: string }>> {
  const { tool, decode } = TOOLS.get(name)!;
  return rig.dispatch.unary(tool.method as DescMethodUnary, decode(args as never), as("alice")) as never;
}

test.each(EVERY_KIND.map((kind) => [kind.noun, kind] as const))(
  "a %s",
  async (noun, { snake, plural, needs, nameOf, reads }) => {
    const made = Object.values(await call(`create_${snake}`, { name: nameOf("one"), description: "d", ...needs }));
    const { id, etag } = made.find((one) => typeof one === "object" && "etag" in one)!;
    const about = { [`${snake}_id`]: id };
    const changing = [`update_${snake}`, `delete_${snake}`];
    const given = { description: "Other." };

    for (const nothing of [about, { ...about, etag }])
      expect(await refusal(call(`update_${snake}`, nothing))).toEqual([
        "InvalidArgument",
        "give at least one field to change",
      ]);
    const said = Object.values(await call(`update_${snake}`, { ...about, ...given, etag }));
    const { etag: after } = said.find((one) => typeof one === "object" && "etag" in one)!;
    expect(after).not.toBe(etag);
    for (const tool of changing)
      expect(await refusal(call(tool, { ...about, ...(tool.startsWith("update") && given), etag }))).toEqual([
        "Aborted",
        `this ${noun} changed after you read it: its etag is now ${after}. Read it again, then repeat the call`,
      ]);
    const gone = { [`${snake}_id`]: "nobody" };
    for (const tool of changing)
      expect(await refusal(call(tool, { ...gone, ...(tool.startsWith("update") && given) }))).toEqual([
        "NotFound",
        `no ${noun} that you can see has the id nobody; list_${plural} returns the ids`,
      ]);
    for (const { tool, args } of reads) {
      const [code, text] = await refusal(call(tool, args("nobody")));
      expect([tool, code]).toEqual([tool, "NotFound"]);
      expect(text).toMatch(new RegExp(`nobody; list_${plural} returns `));
    }
  },
);

test.each(EVERY_KIND.map((kind) => [kind.noun, kind] as const))(
  "a %s has no blank label, and none that is both added and removed",
  async (noun, { snake, needs, nameOf }) => {
    const named = { name: nameOf("blank"), description: "d", ...needs };
    expect(await refusal(call(`create_${snake}`, { ...named, labels: ["a", "\u200b \t"] }))).toEqual([
      "InvalidArgument",
      "labels[1]: must not be blank",
    ]);
    const made = Object.values(await call(`create_${snake}`, named));
    const about = { [`${snake}_id`]: made.find((one) => typeof one === "object" && "etag" in one)!.id };
    const both = { add_labels: ["new", "old label"], remove_labels: ["old label"] };
    expect([noun, await refusal(call(`update_${snake}`, { ...about, ...both }))]).toEqual([
      noun,
      ["InvalidArgument", 'add_labels and remove_labels both have "old label": keep it in one of them'],
    ]);
    const grants = { share: [{ to: "user:bob", tier: "view" }], unshare: ["user:bob"] };
    expect(await refusal(call(`update_${snake}`, { ...about, ...grants }))).toEqual([
      "InvalidArgument",
      "share and unshare both have user:bob: keep it in one of them",
    ]);
  },
);

test.each(EVERY_KIND.map((kind) => [kind.noun, kind] as const))(
  "a %s is found by its id in capitals, and has no label removed that it does not have",
  async (noun, { snake, needs, nameOf }) => {
    const named = { name: nameOf("capitals"), description: "d", labels: ["one", "two"], ...needs };
    const made = Object.values(await call(`create_${snake}`, named));
    const { id } = made.find((one) => typeof one === "object" && "etag" in one)!;
    const update = (args: object) => call(`update_${snake}`, { [`${snake}_id`]: id.toUpperCase(), ...args });
    expect([noun, await refusal(update({ remove_labels: ["one", "Two"] }))]).toEqual([
      noun,
      ["InvalidArgument", `the ${noun} has no label Two to remove; it has one, two`],
    ]);
    const said = Object.values(await update({ remove_labels: ["one"] }));
    expect(said.find((one) => typeof one === "object" && "etag" in one)).toMatchObject({ id, labels: ["two"] });
  },
);

test("an agent has no resource detached that it does not have", async () => {
  const { skill } = await call("create_skill", { name: "detached", description: "d", instructions: "Look." });
  const { agent } = await call("create_agent", { name: "Agent", resource_ids: [skill!.id.toUpperCase()] });
  const other = "0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f";
  const about = { agent_id: agent!.id };
  expect(await refusal(call("update_agent", { ...about, remove_resource_ids: [skill!.id, other] }))).toEqual([
    "InvalidArgument",
    `the agent has no resource ${other} to remove; it has ${skill!.id}; get_agent shows their names`,
  ]);
  await call("update_agent", { ...about, remove_resource_ids: [skill!.id.toUpperCase()] });
});

test("a name, a task and a template have something that can be read", async () => {
  const { agent } = await call("create_agent", { name: "Agent" });
  const about = { agent_id: agent!.id };
  const template = { name: "p", template: "\u0000" };
  const texts: readonly [string, object, string][] = [
    ["create_agent", { name: " \u2028" }, "name"],
    ["update_agent", { ...about, name: "\u202e" }, "name"],
    ["create_assignment", { ...about, name: "a", input: "\n" }, "input"],
    ["create_prompt", template, "template"],
  ];
  for (const [tool, args, argument] of texts)
    expect([tool, await refusal(call(tool, args))]).toEqual([
      tool,
      ["InvalidArgument", `${argument}: must not be blank`],
    ]);
});

test("a tool that an agent does not have is not removed in silence", async () => {
  const { agent } = await call("create_agent", { name: "Tools", tools: ["core/list_prompts"], ask_tools: ["mcp/x"] });
  const about = { agent_id: agent!.id };
  expect(await refusal(call("update_agent", { ...about, remove_tools: ["core/list_prompt"] }))).toEqual([
    "InvalidArgument",
    "the agent has no tool core/list_prompt to remove; it has core/list_prompts",
  ]);
  expect(await refusal(call("update_agent", { ...about, remove_ask_tools: [" "] }))).toEqual([
    "InvalidArgument",
    'the agent has no ask_tools entry " " to remove; it has mcp/x',
  ]);
  await call("update_agent", { ...about, remove_tools: ["core/list_prompts"], remove_ask_tools: ["mcp/x"] });
});
