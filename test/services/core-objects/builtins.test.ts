import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Builtin, installBuiltins, readBuiltins } from "../../../services/core-objects/builtins.js";
import { openContext } from "../../../services/core-objects/context.js";
import type { AgentRecord } from "../../../services/core-objects/kinds/agents/record.js";
import type { SkillRecord } from "../../../services/core-objects/kinds/skills/record.js";
import { loadKinds } from "../../../services/core-objects/service.js";
import { openEmbeddedStore } from "../../../services/shared/store/embedded/embedded.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { SEAL } from "./rig.js";

const kinds = await loadKinds();
const agents = readBuiltins(kinds).get("agent") as readonly (Builtin & AgentRecord)[];
const skills = readBuiltins(kinds).get("skill") as readonly (Builtin & SkillRecord)[];

test("what ships is installed once, again where its content changed, and removed where it no longer ships", async () => {
  const folder = await mkdtemp(join(tmpdir(), "builtins-"));
  const store = await openEmbeddedStore(folder);
  try {
    const context = await openContext(store, kinds, {
      principals: { of: async () => [], ofNames: async () => ({ ids: [], unknown: [] }), groupsOf: async () => [] },
      seal: SEAL,
      delegations: {
        create: async () => ({ delegation: "", key: null }),
        exchange: () => Promise.reject(),
        end: async () => undefined,
      },
      traceUsage: async () => Promise.reject(new Error("no traces")),
      auditUsage: async () => Promise.reject(new Error("no audit")),
      people: { find: async () => undefined },
      audit: async () => [],
      reachChanged: async () => undefined,
      wakeWorker: () => undefined,
    });
    const shipped = readBuiltins(kinds);
    expect(await installBuiltins(context, shipped)).toBe([...shipped.values()].flat().length);
    expect(await installBuiltins(context, readBuiltins(kinds))).toBe(0);

    const collection = context.collection("agent");
    const first = await collection.findOne({ _id: "builtin.threat-analyst" });
    const [agent, ...others] = agents.toSorted((a) => (a._id === first?._id ? -1 : 1));
    const next = { ...agent!, description: "Other", content_hash: "other" };
    expect(await installBuiltins(context, new Map([...shipped, ["agent", [next, ...others.slice(1)]]]))).toBe(2);
    const changed = await collection.findOne({ _id: first!._id });
    expect(changed).toMatchObject({ description: "Other", created_at: first!.created_at });
    expect(changed!.etag).not.toBe(first!.etag);
    expect(await collection.countDocuments({ origin: "builtin" })).toBe(agents.length - 1);
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test("no two of those that ship have the same id, whatever their kind: agents are given them by it alone", () => {
  const ids = [...readBuiltins(kinds).values()].flat().map(({ _id }) => _id);
  expect(new Set(ids).size).toBe(ids.length);
});

const image = readImage();
const tools = readTools(image);

test("every built-in agent names tools that there are and skills that ship", () => {
  const published = new Set(tools.map(({ server, name }) => `${server}/${name}`));
  const shipped = new Set(skills.map(({ _id }) => _id));
  for (const agent of agents) {
    expect(agent.tools.filter((tool) => !published.has(tool))).toEqual([]);
    for (const skill of agent.skills) expect(shipped).toContain(skill);
    expect(agent.instructions.length).toBeGreaterThan(300);
  }
});

/** The tools of its own that an agent with skills has besides those it names. */
const OF_SKILLS = ["load_skill", "read_skill_resource"];
const byLabel = new Map(tools.map((tool) => [`${tool.server}/${tool.name}`, tool]));

/** What a text tells a model to call: `server/tool(arguments)`. */
function callsIn(text: string): readonly { readonly label: string; readonly args: readonly string[] }[] {
  return [...text.matchAll(/`([a-z]+\/[a-z_]+)(?:\(([^)`]*)\))?`/g)].map(([, label = "", args = ""]) => ({
    label,
    args: args.split(", ").filter((name) => name !== ""),
  }));
}

const textsOf = ({ instructions, files }: SkillRecord): string[] => [instructions, ...files.map(({ text }) => text)];

test("every tool that a built-in text names is there, with every argument that it names and all that it needs", () => {
  const texts = [...agents.map(({ instructions }) => instructions), ...skills.flatMap(textsOf)];
  const wrong: string[] = [];
  const said = texts.flatMap(callsIn);
  for (const { label, args } of said) {
    const schema = byLabel.get(label)?.listing.inputSchema as { properties?: object; required?: string[] } | undefined;
    if (schema === undefined) wrong.push(`there is no tool ${label}`);
    const known = Object.keys(schema?.properties ?? {});
    for (const name of args) if (!known.includes(name)) wrong.push(`${label} has no argument ${name}`);
    if (args.length === 0) continue;
    for (const name of schema?.required ?? []) if (!args.includes(name)) wrong.push(`${label} needs ${name}`);
  }
  expect(wrong).toEqual([]);
  expect(said.length).toBeGreaterThan(90);
});

test("an agent that ships may call whatever its skills tell it to, and nothing is named without its server", () => {
  const names = new Set(tools.map(({ name }) => name).filter((name) => name.includes("_")));
  const wrong: string[] = [];
  for (const agent of agents) {
    const own = skills.filter(({ _id }) => agent.skills.includes(_id)).flatMap(textsOf);
    for (const { label } of [agent.instructions, ...own].flatMap(callsIn))
      if (!agent.tools.includes(label)) wrong.push(`${agent._id} may not call ${label}`);
    for (const [, name = ""] of [agent.instructions, ...own].join().matchAll(/`([a-z_]+)`/g))
      if (names.has(name) && !OF_SKILLS.includes(name)) wrong.push(`${agent._id} reads ${name} without its server`);
  }
  expect(wrong).toEqual([]);
});

test("every skill says how answers are read, and where to stop and ask", () => {
  const fields = (schema: unknown): string[] =>
    typeof schema !== "object" || schema === null
      ? []
      : Object.entries(schema).flatMap(([name, value]) => [
          ...(name === "properties" ? Object.keys(value as object) : []),
          ...fields(value),
        ]);
  for (const skill of skills) {
    const { instructions, _id } = skill;
    const [work = "", reading = ""] = instructions.split("## Reading the answers");
    expect(work, _id).toMatch(/\*\*(?:Stop|Ask|ask)/);
    const called = callsIn(instructions).map(({ label }) => byLabel.get(label)?.listing.outputSchema);
    const known = new Set(called.flatMap(fields));
    const meant = ["total_size", "hidden_links", "revoked"].filter((field) => known.has(field));
    for (const words of [...meant, "not known"]) expect(reading, _id).toContain(words);
    const told = [...reading.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name!);
    expect(
      told.filter((name) => !known.has(name)),
      `${_id} tells of fields that none of its tools answers`,
    ).toEqual([]);
    for (const [, path] of instructions.matchAll(/\]\(([^)]+)\)/g))
      expect(
        skill.files.map((file) => file.path),
        _id,
      ).toContain(path);
  }
});

test("what built-in texts tell a model to give or read is in the API", () => {
  const words = new Set(tools.map(({ name }) => name));
  for (const desc of image) if (desc.kind === "message") for (const { name } of desc.fields) words.add(name);
  const texts = [...agents.map(({ instructions }) => instructions), ...skills.flatMap(textsOf)];
  const said = texts.flatMap((text) => [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, word]) => word!));
  expect(said.length).toBeGreaterThan(20);
  expect([...new Set(said)].filter((word) => !words.has(word))).toEqual([]);
});
