import { expect, test } from "vitest";
import { loadPlatform } from "../../../../../services/platform-proxy/parts.js";
import { keyOf } from "../../../../../services/shared/rpc/in-process.js";
import { readImage } from "../../../../../services/shared/tools/image.js";
import { readTools, type Tool } from "../../../../../services/shared/tools/tools.js";

const { bindings: aevBindings } = await loadPlatform("aev");

const tools = readTools(readImage()).filter(({ server }) => server === "aev");
const named = (keep: (tool: Tool) => boolean) => tools.filter(keep).map(({ name }) => name);

test("every tool has exactly one binding", () => {
  expect(aevBindings.map(({ method }) => keyOf(method)).sort()).toEqual(
    tools.map(({ method }) => keyOf(method)).sort(),
  );
});

test("every tool but whoami takes a tenant and needs none", () => {
  const takes = ({ listing }: Tool) => listing.inputSchema.properties?.tenant_id !== undefined;
  expect(named((tool) => !takes(tool))).toEqual(["whoami"]);
  expect(named(({ listing }) => listing.inputSchema.required?.includes("tenant_id") === true)).toEqual([]);
});

test("what runs attacks says so", () => {
  const runs = named(({ name }) => /^(?:re)?launch_|^trigger_|_simulation_status$/.test(name));
  const known = [
    "launch_scenario",
    "set_simulation_status",
    "launch_inject",
    "launch_atomic_test",
    "relaunch_atomic_test",
  ];
  expect(runs).toEqual(expect.arrayContaining(known));
  expect(named(({ listing }) => listing.annotations.openWorldHint === true)).toEqual(expect.arrayContaining(runs));
  expect(named(({ listing }) => listing.annotations.destructiveHint === true)).toEqual(expect.arrayContaining(runs));
});

test("reads and writes are told apart by hint and by scope alike", () => {
  expect(named(({ readOnly, scope }) => readOnly !== (scope === "aev:read"))).toEqual([]);
});

test("every search is paged and bounded", () => {
  for (const { name, listing } of tools.filter((tool) => tool.name.startsWith("search_"))) {
    const properties = listing.inputSchema.properties ?? {};
    expect({ name, page_size: properties.page_size }).toMatchObject({ page_size: { minimum: 1, maximum: 100 } });
    expect(properties).toHaveProperty("page_token");
    expect(listing.outputSchema?.properties).toHaveProperty("next_page_token");
  }
});

test("a tool's description fits in a list", () => {
  for (const { listing } of tools) {
    expect(listing.description.length).toBeGreaterThan(40);
    expect(listing.description.length).toBeLessThan(400);
  }
});

test("a state is offered only where it can be asked for", () => {
  const tool = tools.find(({ name }) => name === "set_simulation_status");
  expect(tool?.listing.inputSchema.properties?.status).toMatchObject({ enum: ["running", "paused", "canceled"] });
});
