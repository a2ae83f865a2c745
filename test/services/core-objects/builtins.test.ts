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
      principals: { of: async () => [], ofNames: async () => ({ ids: [], unknown: [] }) },
      seal: SEAL,
      delegations: { create: async () => "", exchange: () => Promise.reject(), end: async () => undefined },
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

test("what built-in agents and skills tell a model to call, give or read is in the API", () => {
  const words = new Set(tools.map(({ name }) => name));
  for (const desc of image) if (desc.kind === "message") for (const { name } of desc.fields) words.add(name);
  const texts = [...agents, ...skills].map(({ instructions }) => instructions);
  for (const { files } of skills) texts.push(...files.map(({ text }) => text));
  const said = texts.flatMap((text) => [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, word]) => word!));
  expect(said.length).toBeGreaterThan(20);
  expect([...new Set(said)].filter((word) => !words.has(word))).toEqual([]);
});
