import { afterAll, beforeAll, expect, test } from "vitest";
import { readOnlySpellings } from "../facade/support/spellings.js";
import { call, post } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// Writes over URLs that say "readonly" in some way, looked for at the platform itself.

let program: Program;
beforeAll(async () => {
  program = await startProgram({ env: { WORKERS: "2" } });
}, 60_000);
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
