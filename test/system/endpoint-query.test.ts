import { afterAll, beforeAll, expect, test } from "vitest";
import { costOf, narrowedFor } from "../../clients/cli/narrowed-url.js";
import { PLATFORM_SERVERS } from "../../services/shared/platforms.js";
import { excludeSpellings, readOnlySpellings, tenantSpellings } from "../facade/support/spellings.js";
import { call, post } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// Writes over URLs that say "readonly" in some way, looked for at the platform itself.

let program: Program;
beforeAll(async () => {
  program = await startProgram({ env: { WORKERS: "2" } });
});
afterAll(() => program?.stop());

const url = (query: string) => `${program.baseUrl}/mcp/cti${query}`;
const key = () => program.bootstrap.admin.api_key;
const create = (query: string, name: string) =>
  post(url(query), key(), "tools/call", { name: "create_entity", arguments: { type: "Malware", name } });

async function found(words: string): Promise<number> {
  const { entities } = await call<{ entities?: readonly unknown[] }>(url(""), key(), "search_entities", {
    types: ["Malware"],
    query: words,
  });
  return entities?.length ?? 0;
}

test("no write reaches the platform over a URL that says read-only in any way, at any worker", async () => {
  expect((await create("", "Permafrost control")).body.result?.isError).toBeUndefined();
  expect(await found("Permafrost")).toBe(1);
  const spellings = readOnlySpellings();
  const outcomes = new Map<string, number>();
  for (const [at, query] of spellings.entries()) {
    const { status, body } = await create(`?${query}`, `Meltwater ${at}`);
    const outcome = status === 400 ? body.error?.data?.error : body.result?.isError === true ? "left out" : query;
    outcomes.set(String(outcome), (outcomes.get(String(outcome)) ?? 0) + 1);
  }
  expect([...outcomes.keys()].sort()).toEqual(["invalid_parameter", "left out", "unknown_parameter"]);
  expect(await found("Meltwater")).toBe(0);
});

test("no excluded tool is called over a URL that excludes it in any way", async () => {
  const outcomes = new Set<string>();
  for (const [at, query] of excludeSpellings("create_entity", "nope").entries()) {
    const { status, body } = await create(`?${query}`, `Snowdrift ${at}`);
    outcomes.add(String(status === 400 ? body.error?.data?.error : body.result?.isError === true ? "left out" : query));
  }
  expect([...outcomes].sort()).toEqual(["invalid_parameter", "left out", "unknown_parameter"]);
  expect(await found("Snowdrift")).toBe(0);
});

test("over a URL that pins a tenant in any way no other tenant is read or written", async () => {
  const at = (query: string) => `${program.baseUrl}/mcp/grc${query}`;
  const { tenants } = await call<{ tenants: { id: string; name: string }[] }>(at(""), key(), "list_tenants", {});
  expect(tenants.length).toBeGreaterThan(1);
  const [own, other] = tenants.map(({ id }) => id) as [string, string];
  const accepted: string[] = [];
  for (const query of tenantSpellings(own, other)) {
    const asset = { type: "primary", name: `Glacier ${query}` };
    const { status, body } = await post(at(`?${query}`), key(), "tools/call", {
      name: "create_asset",
      arguments: { ...asset, tenant_id: other },
    });
    expect([query, status === 400 || body.result?.isError === true]).toEqual([query, true]);
    if (status === 400) continue;
    accepted.push(query);
    const seen = await call<{ tenants: { id: string }[] }>(at(`?${query}`), key(), "list_tenants", {});
    expect([query, seen.tenants.map(({ id }) => id)]).toEqual([query, [own]]);
  }
  expect(accepted.length).toBeGreaterThan(3);
  const { assets = [] } = await call<{ assets?: object[] }>(at(""), key(), "list_primary_assets", {
    tenant_id: other,
    query: "Glacier",
  });
  expect(assets).toEqual([]);
  const query = `?tenant=${own}`;
  await call(at(query), key(), "create_asset", { type: "primary", name: "Moraine" });
  const { assets: written } = await call<{ assets: { name: string }[] }>(at(""), key(), "list_primary_assets", {
    tenant_id: own,
    query: "Moraine",
  });
  expect(written.map(({ name }) => name)).toEqual(["Moraine"]);
});

// Of core, tools whose rights come from objects are not there before an object is.
test.each(PLATFORM_SERVERS)("%s sends as many bytes as clients show says", async (server) => {
  for (const toolsets of ["all", "basic"]) {
    const { query, narrowing } = narrowedFor({ sends: "all" }, [server], { toolsets });
    const { body } = await post(`${program.baseUrl}/mcp/${server}${query}`, key(), "tools/list", {});
    expect(Buffer.byteLength(JSON.stringify(body.result))).toBe(costOf(server, narrowing).bytes);
  }
});
