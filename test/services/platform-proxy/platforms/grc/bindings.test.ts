import { expect, test } from "vitest";
import { loadPlatform } from "../../../../../services/platform-proxy/parts.js";
import { keyOf } from "../../../../../services/shared/rpc/in-process.js";
import { readImage } from "../../../../../services/shared/tools/image.js";
import { readTools } from "../../../../../services/shared/tools/tools.js";

const { bindings: grcBindings } = await loadPlatform("grc");

const tools = readTools(readImage()).filter(({ server }) => server === "grc");

test("every grc tool has exactly one binding", () => {
  expect(grcBindings.map(({ method }) => keyOf(method)).sort()).toEqual(
    tools.map(({ method }) => keyOf(method)).sort(),
  );
});

test("every tool takes tenant_id, which may be left out, and says what it needs", () => {
  for (const tool of tools) {
    const { properties = {}, required = [] } = tool.listing.inputSchema;
    const takes = "tenant_id" in properties && !required.includes("tenant_id");
    expect({ name: tool.name, takes }).toEqual({ name: tool.name, takes: true });
    expect(tool.needs.length > 0).toBe(tool.name !== "whoami");
    expect(tool.scope).toBe(tool.readOnly ? "grc:read" : "grc:write");
  }
});
