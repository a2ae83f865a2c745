import { randomBytes } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type ExportTraceServiceRequest,
  ExportTraceServiceRequestSchema,
} from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import type { KeyValueSchema } from "#proto/opentelemetry/proto/common/v1/common_pb.js";
import { Status_StatusCode } from "#proto/opentelemetry/proto/trace/v1/trace_pb.js";
import type { ReadTrace } from "../../../services/traces/gather.js";
import { HEAD_BYTES, nthIn, sizeIn } from "../../../services/traces/head.js";
import { bufferOf } from "../../../services/traces/segments.js";
import { shapedOf } from "../../../services/traces/shaped.js";
import type { ReadSpan } from "../../../services/traces/span.js";

/** A span in the words of a test. */
export interface Sketch {
  readonly trace?: string;
  readonly id?: string;
  readonly parent?: string;
  readonly name?: string;
  readonly error?: string;
  /** Milliseconds since the epoch. */
  readonly at?: number;
  readonly ms?: number;
  readonly attributes?: Readonly<Record<string, string | number>>;
}

/** Spans as they are shown, of what was read of an export. */
export function spansIn(traces: readonly ReadTrace[]): ReadSpan[] {
  return traces.flatMap(({ packs, long }) => [
    ...packs.flatMap(({ resource, heads, spans }) => {
      const all = bufferOf(heads);
      let to = 0;
      return Array.from({ length: all.length / HEAD_BYTES }, (_, i) => {
        const from = to;
        to += sizeIn(all, i * HEAD_BYTES);
        return shapedOf(spans.subarray(from, to), resource, nthIn(all, i * HEAD_BYTES));
      });
    }),
    ...long.map(({ span }) => span),
  ]);
}

export const newTraceId = (): string => randomBytes(16).toString("hex");
export const newSpanId = (): string => randomBytes(8).toString("hex");

/** An OTLP export of spans from one source. */
export function exportOf(source: string, spans: readonly Sketch[]): ExportTraceServiceRequest {
  return create(ExportTraceServiceRequestSchema, {
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ "service.name": source }) },
        scopeSpans: [
          {
            spans: spans.map(({ trace, id, parent, name, error, at = Date.now(), ms = 5, attributes = {} }) => ({
              traceId: bytes(trace ?? newTraceId()),
              spanId: bytes(id ?? newSpanId()),
              parentSpanId: bytes(parent ?? ""),
              name: name ?? "step",
              startTimeUnixNano: BigInt(at) * 1_000_000n,
              endTimeUnixNano: BigInt(at + ms) * 1_000_000n,
              attributes: attributesOf(attributes),
              ...(error !== undefined && { status: { code: Status_StatusCode.ERROR, message: error } }),
            })),
          },
        ],
      },
    ],
  });
}

function attributesOf(
  attributes: Readonly<Record<string, string | number>>,
): MessageInitShape<typeof KeyValueSchema>[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: {
      value:
        typeof value === "string"
          ? { case: "stringValue" as const, value }
          : { case: "intValue" as const, value: BigInt(value) },
    },
  }));
}

function bytes(hex: string): Uint8Array {
  return Buffer.from(hex, "hex");
}
