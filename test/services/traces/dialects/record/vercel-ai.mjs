// biome-ignore-all lint/correctness/noUndeclaredDependencies: these are installed in a folder of their own, to record once

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { LegacyOpenTelemetry, OpenTelemetry } from "@ai-sdk/otel";
import { generateText, registerTelemetry, stepCountIs, tool } from "ai";
import { z } from "zod";
import { provider } from "./tracing.mjs";

registerTelemetry(process.argv[2] === "legacy" ? new LegacyOpenTelemetry() : new OpenTelemetry());
const models = createOpenAICompatible({ name: "mock", baseURL: process.env.MODEL_URL, apiKey: "none" });
await generateText({
  model: models("large"),
  prompt: "Is web-1 safe?",
  stopWhen: stepCountIs(3),
  tools: {
    look_up: tool({ description: "d", inputSchema: z.object({ host: z.string() }), execute: async () => "a host" }),
  },
  telemetry: { functionId: "triage-bot" },
});
await provider.shutdown();
