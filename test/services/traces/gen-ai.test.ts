import { expect, test } from "vitest";
import { CONVENTIONS, type Fact, keyOf, operationOf, ownsTokens } from "../../../services/traces/gen-ai.js";

function read(attributes: Record<string, string>) {
  const facts: Fact[] = ["agentId", "agentName", "model", "tool", "inputTokens", "outputTokens", "input", "output"];
  const told = facts.map((fact) => [fact, attributes[keyOf(fact, (key) => key in attributes) ?? ""]] as const);
  return {
    operation: operationOf((key) => attributes[key]),
    ...Object.fromEntries(told.filter(([, value]) => value !== undefined)),
  };
}

test("the same chat is read alike in every convention", () => {
  const chat = { operation: "chat", model: "m-1", inputTokens: "10", outputTokens: "5", input: "hi", output: "ho" };
  const said: Record<string, Record<string, string>> = {
    current: {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "m",
      "gen_ai.response.model": "m-1",
      "gen_ai.usage.input_tokens": "10",
      "gen_ai.usage.output_tokens": "5",
      "gen_ai.input.messages": "hi",
      "gen_ai.output.messages": "ho",
    },
    old: {
      "gen_ai.operation.name": "chat",
      "gen_ai.response.model": "m-1",
      "gen_ai.usage.prompt_tokens": "10",
      "gen_ai.usage.completion_tokens": "5",
      "gen_ai.prompt": "hi",
      "gen_ai.completion": "ho",
    },
    openinference: {
      "openinference.span.kind": "LLM",
      "llm.model_name": "m-1",
      "llm.token_count.prompt": "10",
      "llm.token_count.completion": "5",
      "input.value": "hi",
      "output.value": "ho",
    },
    traceloop: {
      "llm.request.type": "chat",
      "gen_ai.response.model": "m-1",
      "llm.usage.prompt_tokens": "10",
      "llm.usage.completion_tokens": "5",
      "gen_ai.prompt.0.content": "hi",
      "gen_ai.completion.0.content": "ho",
    },
  };
  for (const [convention, attributes] of Object.entries(said)) {
    expect([convention, read(attributes)]).toEqual([convention, chat]);
  }
});

test("tools and agents are read from their own words", () => {
  expect(read({ "openinference.span.kind": "TOOL", "tool.name": "t" })).toEqual({
    operation: "execute_tool",
    tool: "t",
  });
  expect(read({ "traceloop.span.kind": "tool", "traceloop.entity.name": "t" })).toEqual({
    operation: "execute_tool",
    tool: "t",
  });
  expect(read({ "sallyport.agent.id": "ours", "gen_ai.agent.id": "theirs" })).toMatchObject({ agentId: "ours" });
  expect(read({ "http.request.method": "GET" })).toEqual({ operation: "" });
});

test("tokens of a chat are its own, those of an agent or tool repeat what is inside", () => {
  expect(["chat", "", "embeddings"].map(ownsTokens)).toEqual([true, true, true]);
  expect(["invoke_agent", "execute_tool", "invoke_workflow"].map(ownsTokens)).toEqual([false, false, false]);
});

test("every row of the table says its version", () => {
  for (const { name, version } of CONVENTIONS) expect([name, version]).not.toContain("");
});
