import { expect, test } from "vitest";
import { lacksOf } from "../../scripts/tool-lacks.js";

const TESTS = [
  { path: "test/a.test.ts", text: 'call("list_agents")' },
  { path: "test/b.test.ts", text: "AgentService.method.listAgents" },
  { path: "test/c.test.ts", text: "relist_agents, listAgentsOfOthers" },
];

test("what a tool has is not missed, and the tests that call it are found", async () => {
  expect(await lacksOf("list_agents", TESTS)).toEqual({ lacks: [], calling: ["test/a.test.ts", "test/b.test.ts"] });
});

test("what it lacks is said, and a name that is none", async () => {
  expect((await lacksOf("list_reports", [])).lacks).toEqual([expect.stringContaining("no test calls list_reports")]);
  expect((await lacksOf("list_agent", [])).lacks).toEqual(["there is no tool list_agent: did you mean list_agents?"]);
});
