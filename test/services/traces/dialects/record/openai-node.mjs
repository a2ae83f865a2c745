// biome-ignore-all lint/correctness/noUndeclaredDependencies: these are installed in a folder of their own, to record once

import { createRequire } from "node:module";
import { OpenAIInstrumentation as OpenInference } from "@arizeai/openinference-instrumentation-openai";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { registerInstrumentations } from "@opentelemetry/instrumentation";
import { OpenAIInstrumentation as Official } from "@opentelemetry/instrumentation-openai";
import { LoggerProvider, SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs";
import { OpenAIInstrumentation as Traceloop } from "@traceloop/instrumentation-openai";
import { provider } from "./tracing.mjs";

const require = createRequire(import.meta.url);
const loggerProvider = new LoggerProvider({
  processors: [new SimpleLogRecordProcessor({ exporter: new OTLPLogExporter() })],
});
const made = { openinference: OpenInference, official: Official, traceloop: Traceloop }[process.argv[2]];
const instrumentation = new made({ captureMessageContent: true });
registerInstrumentations({ instrumentations: [instrumentation], tracerProvider: provider, loggerProvider });
const OpenAI = require("openai");
instrumentation.manuallyInstrument?.(OpenAI.OpenAI ?? OpenAI);
const client = new OpenAI.OpenAI({ baseURL: process.env.MODEL_URL, apiKey: "none" });
const messages = [{ role: "user", content: "Is web-1 safe?" }];
const parameters = { type: "object", properties: { host: { type: "string" } } };
const tools = [{ type: "function", function: { name: "look_up", description: "d", parameters } }];
const first = await client.chat.completions.create({ model: "large", messages, tools });
messages.push(first.choices[0].message, { role: "tool", tool_call_id: "call_1", content: "a host" });
await client.chat.completions.create({ model: "large", messages, tools });
await loggerProvider.shutdown();
await provider.shutdown();
