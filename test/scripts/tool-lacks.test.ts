import { expect, test } from "vitest";
import { lacksOf } from "../../scripts/tool-lacks.js";

const TESTS = [
  { path: "test/a.test.ts", text: 'call("list_agents")' },
  { path: "test/b.test.ts", text: "AgentService.method.listAgents" },
  { path: "test/c.test.ts", text: "relist_agents, listAgentsOfOthers" },
];

const SIZES = "| core | `list_agents` | 0 | 1 | 1 | 1 |\n| cti | `list_reports` | 0 | 1 | 1 | 1 |";

test("what a tool has is not missed, and the tests that call it are found", async () => {
  expect(await lacksOf("list_agents", TESTS, SIZES)).toMatchObject({
    lacks: [],
    calling: ["test/a.test.ts", "test/b.test.ts"],
  });
});

test("what it lacks is said, and where it belongs", async () => {
  expect((await lacksOf("list_reports", [], "")).lacks).toEqual([
    "no test calls list_reports: add one to test/services/platform-proxy/platforms/cti/container-service.test.ts",
    "docs/answer-sizes.md has no row for list_reports: run npm run docs",
  ]);
  expect((await lacksOf("list_agent", [], "")).lacks).toEqual([
    "there is no tool list_agent: did you mean list_agents?",
  ]);
});

test("a name that several servers have needs its server, and tests of the other servers do not count", async () => {
  const { lacks } = await lacksOf("whoami", [], "");
  expect(lacks).toEqual([
    "aev and cti and grc have a tool of this name: run npm run check:tool -- aev/whoami or npm run check:tool -- cti/whoami or npm run check:tool -- grc/whoami",
  ]);
  const tests = ["cti", "aev"].map((server) => ({
    path: `test/services/platform-proxy/platforms/${server}/account-service.test.ts`,
    text: 'call("whoami")',
  }));
  expect((await lacksOf("aev/whoami", tests, "")).calling).toEqual([tests[1]!.path]);
});
