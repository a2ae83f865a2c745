import { readdirSync, readFileSync } from "node:fs";
import { fromJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ExportLogsServiceRequestSchema } from "#proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import { ExportTraceServiceRequestSchema } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { ownsTokens } from "../../../services/traces/gen-ai.js";
import { readEvents } from "../../../services/traces/read-events.js";
import { type ReadSpan, readSpan } from "../../../services/traces/span.js";
import { spansIn } from "./spans.js";

// What is recognised of the spans that real instrumentations sent (dialects/README.md). An empty cell has its reason here.

const FOLDER = new URL("dialects/", import.meta.url);
const CELLS = ["agent", "model", "operation", "tool", "tokens", "input", "output"] as const;
type Cell = (typeof CELLS)[number];

const CLIENT = "it instruments a client of models, which knows neither agents nor the tools that they run";

/** Cells that a dialect leaves empty, and why. */
const EMPTY: Readonly<Record<string, Partial<Record<Cell, string>>>> = {
  "langsmith-python": {},
  "official-openai-node": { agent: CLIENT, tool: CLIENT },
  "official-openai-python": { agent: CLIENT, tool: CLIENT },
  "openinference-langgraph-python": {},
  "openinference-openai-node": { agent: CLIENT, tool: CLIENT },
  "pydantic-ai-python": {},
  "traceloop-langgraph-python": {},
  "traceloop-openai-node": { agent: CLIENT, tool: CLIENT },
  "traceloop-python": { agent: CLIENT, tool: CLIENT },
  "vercel-ai": {},
  "vercel-ai-6": {},
  "vercel-ai-legacy": {},
};

async function recorded(name: string): Promise<{ spans: ReadSpan[]; events: readonly ReadSpan[] }> {
  const { resourceLogs = [], ...all } = JSON.parse(readFileSync(new URL(`${name}.snap.json`, FOLDER), "utf8"));
  const { resourceSpans } = fromJson(ExportTraceServiceRequestSchema, all);
  const logs = fromJson(ExportLogsServiceRequestSchema, { resourceLogs });
  // However long ago it was recorded.
  const { traces, rejects } = await readEvents(logs, 100_000);
  expect(rejects.count).toBe(0);
  const spans = resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => readSpan(span, resource) as ReadSpan)),
  );
  return { spans, events: spansIn(traces) };
}

test("every recording has its row", () => {
  const names = readdirSync(FOLDER).flatMap((file) => /^(.*)\.snap\.json$/.exec(file)?.[1] ?? []);
  expect(names.sort()).toEqual(Object.keys(EMPTY));
});

test.each(Object.keys(EMPTY))("%s", async (name) => {
  const { spans, events } = await recorded(name);
  const facts = spans.map((span) => span.facts);
  const chats = facts.filter(({ operation }) => operation === "chat");
  const tools = facts.filter(({ operation }) => operation === "execute_tool");
  // In the span itself, or in an event of it.
  const has = (field: string) => (span: ReadSpan["facts"]) =>
    [span, ...events.map((event) => event.facts).filter((event) => event.parent_span_id === span.span_id)].some(
      ({ fields }) => fields.some((one) => one.field === field),
    );
  const own = facts.filter(({ operation }) => ownsTokens(operation));
  const sums = (["input_tokens", "output_tokens"] as const).map((key) => own.reduce((sum, one) => sum + one[key], 0));
  const all: Record<Cell, boolean> = {
    agent: facts.some(({ agent_name }) => agent_name === "triage-bot"),
    model: chats.length === 2 && chats.every(({ model }) => ["large-2026", "large"].includes(model)),
    operation:
      chats.length === 2 &&
      facts.every(({ operation }) => /^(chat|create_agent|execute_tool|invoke_\w+)$/.test(operation)),
    tool: tools.length > 0 && tools.every(({ tool }) => tool === "look_up"),
    // Two calls of 21 and 7: what a chain or an agent repeats is not counted again.
    tokens: sums[0] === 42 && sums[1] === 14,
    input: [...chats, ...tools].every(has("input")),
    output: [...chats, ...tools].every(has("output")),
  };
  const found = CELLS.filter((cell) => all[cell]);
  expect(found).toEqual(CELLS.filter((cell) => EMPTY[name]![cell] === undefined));
});
