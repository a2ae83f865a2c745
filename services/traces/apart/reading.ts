import { serialize } from "node:v8";
import { fromJson, toBinary } from "@bufbuild/protobuf";
import { ExportTraceServiceRequestSchema } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { moving, serveThread } from "../../shared/process/thread.js";
import { textOfJson } from "../../shared/rpc/bounded.js";
import { boundsOf } from "../../shared/rpc/bounds.js";
import { invalidArgument } from "../../shared/rpc/errors.js";
import type { Unread } from "../../shared/rpc/unread.js";
import { checkWire } from "../../shared/rpc/wire.js";
import { readSpans } from "../read-spans.js";

/** What was read of an export. */
export interface ReadApart {
  /** What keeping.ts keeps. */
  readonly traces: Uint8Array;
  /** The agents that they name. */
  readonly agents: readonly string[];
  readonly owner: string | undefined;
  readonly rejected: number;
  readonly reasons: readonly string[];
}

const SCHEMA = ExportTraceServiceRequestSchema;
const BOUNDS = boundsOf(SCHEMA);

const methods = {
  /** @throws ConnectError invalid_argument, resource_exhausted. */
  async read({ bytes, encoding, retentionDays }: Unread & { readonly retentionDays: number }): Promise<ReadApart> {
    const protobuf = encoding === "json" ? ofJson(bytes) : bytes;
    checkWire(SCHEMA, protobuf, BOUNDS);
    const { traces, agents, rejects, owner } = readSpans(protobuf, retentionDays);
    const packed = Uint8Array.from(serialize(traces));
    const read = { traces: packed, agents, owner };
    return moving({ ...read, rejected: rejects.count, reasons: [...rejects.reasons] }, packed);
  },
};

/** What the thread answers to. */
export type ReadingMethods = typeof methods;

/** As protobuf has it in JSON, which is not OTLP's: ids are in base64. */
function ofJson(bytes: Uint8Array): Uint8Array {
  const text = textOfJson(bytes);
  try {
    return toBinary(SCHEMA, fromJson(SCHEMA, JSON.parse(text), { ignoreUnknownFields: true }));
  } catch (error) {
    throw invalidArgument(`the message is not an export of spans: ${(error as Error).message}`, error);
  }
}

serveThread(methods);
