import { type DescMessage, fromBinary, fromJson, type JsonObject, type MessageShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import {
  type ExportLogsServiceRequest,
  ExportLogsServiceRequestSchema,
} from "#proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import {
  type ExportTraceServiceRequest,
  ExportTraceServiceRequestSchema,
} from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { boundsOf } from "../../../services/shared/rpc/bounds.js";
import { invalidArgument, resourceExhausted } from "../../../services/shared/rpc/errors.js";
import { excessOf } from "../../../services/shared/rpc/json-shape.js";
import { checkWire } from "../../../services/shared/rpc/wire.js";
import type { Encoding } from "./cut.js";

const IDS = ["traceId", "spanId", "parentSpanId"] as const;
const HEX = /^(?:[0-9a-fA-F]{2})*$/;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads an export that is whole and not too long.
 *
 * @throws ConnectError resource_exhausted for what is made of too much, invalid_argument for what is no such message.
 */
export function decodeExport(bytes: Uint8Array, encoding: Encoding): ExportTraceServiceRequest {
  return decode(ExportTraceServiceRequestSchema, bytes, encoding, { what: "spans", idsIn: spansIn });
}

/** The same for an export of logs. */
export function decodeLogs(bytes: Uint8Array, encoding: Encoding): ExportLogsServiceRequest {
  return decode(ExportLogsServiceRequestSchema, bytes, encoding, { what: "log records", idsIn: recordsIn });
}

/** What an export is made of: in JSON the ids of these are hexadecimal. */
interface Parts {
  readonly what: string;
  readonly idsIn: (json: JsonObject) => Iterable<JsonObject>;
}

function decode<D extends DescMessage>(
  schema: D,
  bytes: Uint8Array,
  encoding: Encoding,
  parts: Parts,
): MessageShape<D> {
  if (encoding === "json") return ofJson(schema, bytes, parts);
  checkWire(schema, bytes, boundsOf(schema));
  return fromBinary(schema, bytes);
}

function ofJson<D extends DescMessage>(schema: D, bytes: Uint8Array, { what, idsIn }: Parts): MessageShape<D> {
  let json: JsonObject;
  try {
    const excess = excessOf(bytes);
    if (excess !== undefined) throw resourceExhausted(`the body ${excess}`);
    json = JSON.parse(UTF8.decode(bytes)) as JsonObject;
  } catch (error) {
    if (error instanceof ConnectError) throw error;
    throw invalidArgument("the body is not JSON", error);
  }
  for (const one of idsIn(json)) toBase64(one);
  try {
    // "OTLP/JSON receivers MUST ignore message fields with unknown names."
    return fromJson(schema, json, { ignoreUnknownFields: true });
  } catch (error) {
    throw invalidArgument(`the body is not an export of ${what}: ${(error as Error).message}`, error);
  }
}

function* spansIn(json: unknown): Iterable<JsonObject> {
  for (const resource of membersOf(json, "resourceSpans"))
    for (const scope of membersOf(resource, "scopeSpans"))
      for (const span of membersOf(scope, "spans")) {
        yield span;
        yield* membersOf(span, "links");
      }
}

function* recordsIn(json: unknown): Iterable<JsonObject> {
  for (const resource of membersOf(json, "resourceLogs"))
    for (const scope of membersOf(resource, "scopeLogs")) yield* membersOf(scope, "logRecords");
}

/** The objects of a list that an object holds; what is something else is the message's reader to refuse. */
function membersOf(of: unknown, name: string): JsonObject[] {
  const list = (of as JsonObject | null)?.[name];
  return Array.isArray(list) ? list.filter((one): one is JsonObject => typeof one === "object" && one !== null) : [];
}

function toBase64(span: JsonObject): void {
  for (const name of IDS) {
    const id = span[name];
    if (typeof id !== "string") continue;
    if (!HEX.test(id)) throw invalidArgument(`a ${name} is not hexadecimal, which OTLP requires in JSON`);
    span[name] = Buffer.from(id, "hex").toString("base64");
  }
}
