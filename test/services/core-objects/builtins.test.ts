import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { installBuiltins, readBuiltins } from "../../../services/core-objects/builtins.js";
import { openCollections } from "../../../services/core-objects/store.js";
import { openEmbeddedStore } from "../../../services/shared/store/embedded/embedded.js";

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

test("every built-in agent names tools of its own servers and skills that ship", () => {
  const { agents, skills } = readBuiltins();
  const shipped = new Set(skills.map(({ _id }) => _id));
  for (const agent of agents) {
    for (const tool of agent.tools) expect(tool).toMatch(/^(cti|aev|grc|core)\/[a-z_]+$/);
    for (const skill of agent.skills) expect(shipped).toContain(skill);
    expect(agent.instructions.length).toBeGreaterThan(300);
  }
});
