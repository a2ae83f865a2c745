import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { installBuiltins, readBuiltins } from "../../../services/core-objects/builtins.js";
import { openCollections } from "../../../services/core-objects/store.js";
import { openEmbeddedStore } from "../../../services/shared/store/embedded/embedded.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";

test("what ships is installed once, again where its content changed, and removed where it no longer ships", async () => {
  const folder = await mkdtemp(join(tmpdir(), "builtins-"));
  const store = await openEmbeddedStore(folder);
  try {
    const collections = await openCollections(store);
    const shipped = readBuiltins();
    const all = shipped.agents.length + shipped.skills.length;
    expect(await installBuiltins(collections, shipped)).toBe(all);
    expect(await installBuiltins(collections, readBuiltins())).toBe(0);

    const first = await collections.agents.findOne({ _id: "builtin.threat-analyst" });
    const [agent, ...others] = shipped.agents.toSorted((a) => (a._id === first?._id ? -1 : 1));
    const next = { ...agent!, description: "Other", content_hash: "other" };
    expect(await installBuiltins(collections, { agents: [next, ...others.slice(1)], skills: shipped.skills })).toBe(2);
    const changed = await collections.agents.findOne({ _id: first!._id });
    expect(changed).toMatchObject({ description: "Other", created_at: first!.created_at });
    expect(changed!.etag).not.toBe(first!.etag);
    expect(await collections.agents.countDocuments({ origin: "builtin" })).toBe(shipped.agents.length - 1);
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
});

const image = readImage();
const tools = readTools(image);

test("every built-in agent names tools that there are and skills that ship", () => {
  const { agents, skills } = readBuiltins();
  const published = new Set(tools.map(({ server, name }) => `${server}/${name}`));
  const shipped = new Set(skills.map(({ _id }) => _id));
  for (const agent of agents) {
    expect(agent.tools.filter((tool) => !published.has(tool))).toEqual([]);
    for (const skill of agent.skills) expect(shipped).toContain(skill);
    expect(agent.instructions.length).toBeGreaterThan(300);
  }
});

test("what built-in agents and skills tell a model to call, give or read is in the API", () => {
  const { agents, skills } = readBuiltins();
  const words = new Set(tools.map(({ name }) => name));
  for (const desc of image) if (desc.kind === "message") for (const { name } of desc.fields) words.add(name);
  const texts = [...agents, ...skills].map(({ instructions }) => instructions);
  for (const { files } of skills) texts.push(...files.map(({ text }) => text));
  const said = texts.flatMap((text) => [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, word]) => word!));
  expect(said.length).toBeGreaterThan(20);
  expect([...new Set(said)].filter((word) => !words.has(word))).toEqual([]);
});
