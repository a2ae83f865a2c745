// How spans say what an agent did. Conventions changed names over the years and
// other vendors have their own; each is a row with its version, and the first
// row that a span speaks decides. Supporting another is adding a row.

import { AGENT_NAME } from "./lang-chain-agent.js";

/** What is read from a span's attributes. */
export type Fact =
  | "agentId"
  | "agentName"
  | "operation"
  | "model"
  | "tool"
  | "inputTokens"
  | "outputTokens"
  | "input"
  | "output";

/** How one convention says it. */
export interface Convention {
  readonly name: string;
  /** The version of the convention that the row was written from. */
  readonly version: string;
  /** Attribute keys by fact; the first that is there counts. */
  readonly keys: Readonly<Partial<Record<Fact, readonly string[]>>>;
  /** Its words for operations, in those of the first row. */
  readonly operations?: Readonly<Record<string, string>>;
}

/** The table, in the order in which rows are asked. */
export const CONVENTIONS: readonly Convention[] = [
  { name: "sallyport", version: "1", keys: { agentId: ["sallyport.agent.id"] } },
  {
    // OpenTelemetry semantic conventions for generative AI, status Development.
    name: "otel-gen-ai",
    version: "2026-05",
    keys: {
      agentId: ["gen_ai.agent.id"],
      agentName: ["gen_ai.agent.name"],
      operation: ["gen_ai.operation.name"],
      model: ["gen_ai.response.model", "gen_ai.request.model"],
      tool: ["gen_ai.tool.name"],
      inputTokens: ["gen_ai.usage.input_tokens"],
      outputTokens: ["gen_ai.usage.output_tokens"],
      input: ["gen_ai.input.messages", "gen_ai.tool.call.arguments"],
      output: ["gen_ai.output.messages", "gen_ai.tool.call.result"],
    },
    // Words that LangSmith, Traceloop and the Vercel AI SDK put there; their spans repeat the tokens of the calls inside them.
    operations: { chain: "invoke_workflow", execute_task: "invoke_workflow", agent_step: "invoke_workflow" },
  },
  {
    // Version 7 speaks otel-gen-ai, unless it is asked for this one (LegacyOpenTelemetry).
    name: "vercel-ai",
    version: "6.0",
    keys: {
      agentName: ["ai.telemetry.functionId"],
      operation: ["ai.operationId"],
      model: ["ai.response.model", "ai.model.id"],
      tool: ["ai.toolCall.name"],
      inputTokens: ["ai.usage.inputTokens"],
      outputTokens: ["ai.usage.outputTokens"],
      input: ["ai.prompt.messages", "ai.prompt", "ai.toolCall.args"],
      output: ["ai.response.text", "ai.response.object", "ai.response.toolCalls", "ai.toolCall.result"],
    },
    operations: {
      "ai.generateText": "invoke_agent",
      "ai.generateText.doGenerate": "chat",
      "ai.streamText": "invoke_agent",
      "ai.streamText.doStream": "chat",
      "ai.generateObject": "invoke_agent",
      "ai.generateObject.doGenerate": "chat",
      "ai.streamObject": "invoke_agent",
      "ai.streamObject.doStream": "chat",
      "ai.toolCall": "execute_tool",
    },
  },
  {
    // The same in events of their own (event.ts), by which the body of each is kept.
    name: "otel-gen-ai",
    version: "1.37 events",
    keys: { input: ["gen_ai.message"], output: ["gen_ai.choice"] },
  },
  {
    // The same before 1.27 (2024-07): other words for tokens and content.
    name: "otel-gen-ai",
    version: "1.26",
    keys: {
      inputTokens: ["gen_ai.usage.prompt_tokens"],
      outputTokens: ["gen_ai.usage.completion_tokens"],
      input: ["gen_ai.prompt"],
      output: ["gen_ai.completion"],
    },
  },
  {
    name: "openinference",
    version: "0.1",
    keys: {
      agentName: ["agent.name"],
      operation: ["openinference.span.kind"],
      model: ["llm.model_name", "embedding.model_name"],
      tool: ["tool.name"],
      inputTokens: ["llm.token_count.prompt"],
      outputTokens: ["llm.token_count.completion"],
      input: ["input.value"],
      output: ["output.value"],
    },
    operations: {
      LLM: "chat",
      TOOL: "execute_tool",
      AGENT: "invoke_agent",
      CHAIN: "invoke_workflow",
      RETRIEVER: "retrieval",
      EMBEDDING: "embeddings",
    },
  },
  {
    // Metadata of each step, as LangSmith and Traceloop send it; OpenInference sends it as JSON (lang-chain-agent.ts).
    name: "langchain",
    version: "1.5",
    keys: { agentName: [`langsmith.metadata.${AGENT_NAME}`, `traceloop.association.properties.${AGENT_NAME}`] },
  },
  {
    // Attributes of an agent's span in addition to those of OpenTelemetry.
    name: "pydantic-ai",
    version: "2.68",
    keys: { input: ["pydantic_ai.all_messages"], output: ["final_result"] },
  },
  {
    name: "traceloop",
    version: "0.4",
    keys: {
      operation: ["llm.request.type", "traceloop.span.kind"],
      tool: ["traceloop.entity.name"],
      inputTokens: ["llm.usage.prompt_tokens"],
      outputTokens: ["llm.usage.completion_tokens"],
      input: ["traceloop.entity.input", "gen_ai.prompt.0.content"],
      output: ["traceloop.entity.output", "gen_ai.completion.0.content"],
    },
    operations: {
      completion: "text_completion",
      tool: "execute_tool",
      agent: "invoke_agent",
      workflow: "invoke_workflow",
      task: "invoke_workflow",
    },
  },
];

/** The key that tells a fact about a span; undefined where none does. */
export function keyOf(fact: Fact, has: (key: string) => boolean): string | undefined {
  return rowOf(fact, has)?.key;
}

/** What was done, in the words of OpenTelemetry; "" where the span does not say. */
export function operationOf(read: (key: string) => string | undefined): string {
  const found = rowOf("operation", (key) => read(key) !== undefined);
  return found === undefined ? "" : inWordsOf(CONVENTIONS.indexOf(found.row), read(found.key) as string);
}

/** The word of a convention for an operation, in those of the first row. */
export function inWordsOf(convention: number, word: string): string {
  const { operations = {} } = CONVENTIONS[convention] as Convention;
  return Object.hasOwn(operations, word) ? (operations[word] as string) : word;
}

/**
 * Whether tokens that a span states are its own: spans of agents, workflows and
 * tools repeat the sum of the model calls inside them.
 */
export function ownsTokens(operation: string): boolean {
  return !["invoke_agent", "create_agent", "invoke_workflow", "execute_tool", "plan"].includes(operation);
}

function rowOf(fact: Fact, has: (key: string) => boolean): { row: Convention; key: string } | undefined {
  for (const row of CONVENTIONS) {
    const key = row.keys[fact]?.find(has);
    if (key !== undefined) return { row, key };
  }
  return undefined;
}
