import { afterAll, beforeAll, expect, test } from "vitest";
import { call, post } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

let program: Program;
beforeAll(async () => {
  program = await startProgram({ env: { LOG_LEVEL: "debug" } });
});
afterAll(() => program?.stop());

test("a read leaves no audit line, a write one, and neither arguments nor credentials are logged", async () => {
  const { api_key } = program.bootstrap.analyst;
  const url = `${program.baseUrl}/mcp/aev`;
  // The greeting and the log come through two pipes: the first start's own write may be heard after "ready".
  await expect.poll(program.output).toContain("catalogue.v1.SettingService/UpdateSettings");
  const before = program.output().length;
  const logged = (): { rpc?: string; audit?: boolean }[] =>
    program
      .output()
      .slice(before)
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));

  await call(url, api_key, "whoami");
  await call(url, api_key, "list_scenarios", { query: "a-needle-to-look-for" });
  await call(url, api_key, "create_scenario", { name: "a-scenario-of-the-audit-test" });
  await post(url, "slp_notakey", "tools/list");
  await expect.poll(() => logged().some(({ rpc }) => rpc === "aev.v1.ScenarioService/CreateScenario")).toBe(true);

  const audits = logged().filter(({ audit }) => audit);
  expect(audits.map(({ rpc }) => rpc).filter((rpc) => rpc !== undefined)).toEqual([
    "aev.v1.ScenarioService/CreateScenario",
  ]);
  const said = program.output().slice(before);
  const secret = api_key.split("_").at(-1)!;
  for (const word of ["a-needle-to-look-for", "a-scenario-of-the-audit-test", secret, "notakey", "eyJ"]) {
    expect(said).not.toContain(word);
  }
});
