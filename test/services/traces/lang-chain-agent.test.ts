import { expect, test } from "vitest";
import { agentIn } from "../../../services/traces/lang-chain-agent.js";

test.each([
  ['{"lc_agent_name": "triage-bot", "langgraph_step": 1}', "triage-bot"],
  ['{"step": {"lc_agent_name": "inner"}}', ""],
  ['{"lc_agent_name": ["triage-bot"]}', ""],
  ['["lc_agent_name"]', ""],
  ['"lc_agent_name"', ""],
  ["null, lc_agent_name", ""],
  ['{"lc_agent_name": "triage', ""],
  [JSON.stringify({ lc_agent_name: "triage-bot", more: "x".repeat(17_000) }), ""],
  ["", ""],
])("of metadata %.60s the agent is %j", (text, agent) => {
  expect(agentIn(text)).toBe(agent);
});

test("a span without metadata names no agent", () => {
  expect(agentIn(undefined)).toBe("");
});
