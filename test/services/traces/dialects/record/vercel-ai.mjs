// biome-ignore-all lint/correctness/noUndeclaredDependencies: these are installed in a folder of their own, to record once

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter())] });
provider.register();
const models = createOpenAICompatible({ name: "mock", baseURL: process.env.MODEL_URL, apiKey: "none" });
await generateText({
  model: models("large"),
  prompt: "Is web-1 safe?",
  stopWhen: stepCountIs(3),
  tools: {
    look_up: tool({ description: "d", inputSchema: z.object({ host: z.string() }), execute: async () => "a host" }),
  },
  experimental_telemetry: { isEnabled: true, functionId: "triage-bot" },
});
await provider.shutdown();
