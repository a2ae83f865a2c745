import { expect, test } from "vitest";
import { CLIENT_LABELS, clientLabelIn, clientLabelOf } from "../../../facade/mcp/client-label.js";

test.each([
  ["claude-code", "claude-code"],
  ["claude-code/2.1.329 (cli)", "claude-code"],
  ["claude-ai", "claude"],
  ["Anthropic/ClaudeAI", "claude"],
  ["codex-mcp-client", "codex"],
  ["Visual Studio Code", "vscode"],
  ["cursor-vscode", "cursor"],
  ["gemini-cli-mcp-client", "gemini-cli"],
  ["python-httpx/0.28.1", "python"],
  ["mcp", "python"],
  ["Ours", "other"],
  ["", "unknown"],
])("%s is counted as %s", (name, label) => {
  expect(clientLabelOf(name)).toBe(label);
});

test("whatever callers say, there are no other labels", () => {
  const labels = new Set(Array.from({ length: 2_000 }, (_, i) => clientLabelOf(`client ${i} ${"x".repeat(i)}`)));
  expect([...labels]).toEqual(["other"]);
  expect(clientLabelOf(undefined)).toBe("unknown");
  expect(CLIENT_LABELS.length).toBeLessThan(40);
});

test("a clientInfo without a name says nothing", () => {
  expect(clientLabelIn({ name: "cursor", version: "1" })).toBe("cursor");
  expect([undefined, null, "cursor", { name: 1 }, []].map(clientLabelIn)).toEqual(Array(5).fill(undefined));
});
