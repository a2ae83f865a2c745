import { randomBytes } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import type { Tool } from "../../../services/shared/tools/tools.js";
import { EVERY_KIND } from "../../services/core-objects/every-kind.js";
import type { Doors } from "./doors.js";
import type { Ask } from "./known.js";

const DOCUMENT = "Phishing comes by mail. ".repeat(200);
let made = 0;

/** Makes an object of each kind in core, a document, a run and a trace, so that what is asked of them is work. */
export async function stockCore(tools: readonly Tool[], ask: Ask, doors: Doors): Promise<void> {
  const call = (name: string, args: JsonObject): Promise<unknown> =>
    ask(tools.find((tool) => tool.server === "core" && tool.name === name)!, args);
  made++;
  for (const { snake, nameOf, needs } of EVERY_KIND) {
    const args = { name: nameOf(`stock${made}`), description: "Made by a test.", ...needs } as JsonObject;
    const there = (await call(`create_${snake}`, args)) as
      | { readonly [member: string]: { readonly id: string } }
      | undefined;
    const id = there?.[snake]?.id;
    if (id === undefined) continue;
    if (snake === "knowledge_base")
      await call("create_document", { knowledge_base_id: id, name: "stock", content: DOCUMENT });
    if (snake === "agent") await call("trigger_run", { agent_id: id, input: "Look." });
  }
  await doors.rpc("grpc", TraceService.method.export)(span());
}

/** A span of a call of a model, with what it was asked. */
function span(): JsonObject {
  const now = `${Date.now()}000000`;
  const asked = JSON.stringify([{ role: "user", parts: [{ type: "text", content: DOCUMENT }] }]);
  const attributes = [
    { key: "gen_ai.operation.name", value: { stringValue: "chat" } },
    { key: "gen_ai.input.messages", value: { stringValue: asked } },
  ];
  const ids = { traceId: randomBytes(16).toString("base64"), spanId: randomBytes(8).toString("base64") };
  const one = { ...ids, name: "chat", startTimeUnixNano: now, endTimeUnixNano: now, attributes };
  return { resourceSpans: [{ scopeSpans: [{ spans: [one] }] }] };
}
