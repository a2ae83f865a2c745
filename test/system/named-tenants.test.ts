import { afterAll, beforeAll, expect, test } from "vitest";
import { call, post } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// Results name their tenant to people who have several: one customer's figures are not taken for another's.

let program: Program;
beforeAll(async () => {
  program = await startProgram();
});
afterAll(() => program?.stop());

const at = (path: string): string => `${program.baseUrl}/mcp/${path}`;
const admin = (): string => program.bootstrap.admin.api_key;

interface Named {
  readonly id: string;
  readonly name: string;
}

const TOOLS = [
  ["grc", "list_controls", "list_tenants"],
  ["aev", "list_scenarios", "whoami"],
] as const;

test.each(TOOLS)("on %s, %s names the tenant that it was called for", async (server, tool, source) => {
  const { tenants } = await call<{ tenants: Named[] }>(at(server), admin(), source);
  expect(tenants.length).toBeGreaterThan(1);
  for (const { id, name } of tenants) {
    const given = { name: tool, arguments: { tenant_id: id.toUpperCase(), page_size: 1 } };
    const pinned = { name: tool, arguments: { page_size: 1 } };
    for (const [path, params] of [
      [server, given],
      [`${server}?tenant=${id}`, pinned],
    ] as const) {
      const { body } = await post(at(path), admin(), "tools/call", params);
      expect(body.result?.structuredContent).toMatchObject({ tenant: { id, name } });
      const [content] = body.result!.content as { text: string }[];
      expect(JSON.parse(content!.text)).toEqual(body.result?.structuredContent);
    }
  }
});

test("a result of no single tenant names none, and one that has the tenant already keeps its own", async () => {
  const { tenants, ...others } = await call<{ tenants: Named[] }>(at("grc"), admin(), "list_tenants");
  expect(others).not.toHaveProperty("tenant");
  const { tenant } = await call<{ tenant: object }>(at("grc"), admin(), "get_tenant", { tenant_id: tenants[0]!.id });
  expect(Object.keys(tenant).length).toBeGreaterThan(2);
});

test("who has one tenant reads of none", async () => {
  const { api_key: key } = program.bootstrap.analyst;
  const { tenants } = await call<{ tenants: Named[] }>(at("grc"), key, "list_tenants");
  expect(tenants).toHaveLength(1);
  for (const args of [{}, { tenant_id: tenants[0]!.id }]) {
    expect(await call(at("grc"), key, "list_controls", args)).not.toHaveProperty("tenant");
  }
});
