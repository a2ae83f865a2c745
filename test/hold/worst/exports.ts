import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { create, toBinary, toJson } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import {
  type ExportTraceServiceRequest,
  ExportTraceServiceRequestSchema,
  TraceService,
} from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { FOREIGN_BOUNDS } from "../../../services/shared/rpc/bounds.js";
import type { Program } from "../../support/program.js";
import type { Answer } from "./doors.js";
import type { Cost } from "./gauge.js";
import type { Measured } from "./measure.js";
import type { Stage } from "./stage.js";

// The worst exports of spans that their bounds allow, at every door that takes them and in every encoding.
// OpenTelemetry's messages contain themselves, so that they are written here and not generated.

const { bytes: MOST_BYTES } = FOREIGN_BOUNDS[ExportTraceServiceRequestSchema.typeName]!;
const MOST_SPANS = 4_096;
/** Of an SDK, where nobody sets another number (OTEL_BSP_MAX_EXPORT_BATCH_SIZE). */
const BATCH = 512;
const NANOS = 1_000_000n;
const ATTEMPTS = 3;
const MOST_LOOP_MS = 50;

/** An export in words: how many spans, in how many traces, with how many attributes of how many characters. */
interface Shape {
  readonly spans: number;
  readonly traces: number;
  readonly attributes: number;
  readonly characters: number;
}

/** What is sent: the dearest in each way that the bounds leave, and what an SDK sends. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  "512 spans of an SDK": { spans: BATCH, traces: 64, attributes: 8, characters: 40 },
  "4,096 spans of one trace": { spans: MOST_SPANS, traces: 1, attributes: 1, characters: 8 },
  "4,096 spans of as many traces": { spans: MOST_SPANS, traces: MOST_SPANS, attributes: 1, characters: 8 },
  "512 spans of 34 attributes": { spans: BATCH, traces: 1, attributes: 34, characters: 8 },
  "16 MiB of 4,096 spans": { spans: MOST_SPANS, traces: 1, attributes: 1, characters: 3_300 },
  "16 MiB of 200 long texts": { spans: 200, traces: 1, attributes: 1, characters: 72_000 },
};

const NAME = `${TraceService.typeName}/${TraceService.method.export.name}`;

/** How it is sent. */
const DOORS = ["grpc", "protobuf", "protobuf gzip", "json", "json gzip"] as const;
/** The ways for spans alone: gRPC, and the codings of OTLP over HTTP. */
export type ExportDoor = (typeof DOORS)[number];

const TEXT = Array.from({ length: 1_000 }, (_, n) => `${n} {"indicator":"198.51.100.${n % 256}"} `).join("");

function textOf(n: number, characters: number): string {
  const at = n % 1_000;
  return TEXT.slice(at)
    .concat(TEXT.repeat(Math.ceil(characters / TEXT.length)))
    .slice(0, characters);
}

/** An export of this shape, of traces that nobody has sent yet. */
export function exportOfShape({ spans, traces, attributes, characters }: Shape): ExportTraceServiceRequest {
  const ids = Array.from({ length: traces }, () => randomBytes(16));
  const now = BigInt(Date.now()) * NANOS;
  return create(ExportTraceServiceRequestSchema, {
    resourceSpans: [
      {
        resource: { attributes: [{ key: "service.name", value: { value: { case: "stringValue", value: "worst" } } }] },
        scopeSpans: [
          {
            spans: Array.from({ length: spans }, (_, n) => ({
              traceId: ids[n % traces]!,
              spanId: randomBytes(8),
              name: `step ${n}`,
              startTimeUnixNano: now + BigInt(n),
              endTimeUnixNano: now + BigInt(n) + NANOS,
              attributes: Array.from({ length: attributes }, (_, a) => ({
                key: `a.${a}`,
                value: { value: { case: "stringValue" as const, value: textOf(n + a, characters) } },
              })),
            })),
          },
        ],
      },
    ],
  });
}

/** As OTLP has it in JSON: ids are hexadecimal ("JSON Protobuf Encoding"). */
function otlpJson(request: ExportTraceServiceRequest): Buffer {
  const json = toJson(ExportTraceServiceRequestSchema, request) as {
    resourceSpans: { scopeSpans: { spans: { traceId: string; spanId: string }[] }[] }[];
  };
  const hex = (base64: string): string => Buffer.from(base64, "base64").toString("hex");
  for (const { scopeSpans } of json.resourceSpans)
    for (const { spans } of scopeSpans)
      for (const span of spans) {
        span.traceId = hex(span.traceId);
        span.spanId = hex(span.spanId);
      }
  return Buffer.from(JSON.stringify(json));
}

async function bodyFor(door: ExportDoor, request: ExportTraceServiceRequest): Promise<Buffer> {
  const plain = door.startsWith("json")
    ? otlpJson(request)
    : Buffer.from(toBinary(ExportTraceServiceRequestSchema, request));
  if (plain.length > MOST_BYTES) throw new Error(`the export is ${plain.length} bytes long: the door would cut it`);
  return door.endsWith("gzip") ? promisify(gzip)(plain) : plain;
}

const same = (bytes: Buffer): Buffer => bytes;

/** Sends an export as it stands. */
export async function sendExport(
  { baseUrl, grpcAddress }: Program,
  key: string,
  door: ExportDoor,
  body: Buffer,
): Promise<Answer> {
  if (door !== "grpc") {
    const response = await fetch(`${baseUrl}/v1/traces`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": door.startsWith("json") ? "application/json" : "application/x-protobuf",
        ...(door.endsWith("gzip") && { "content-encoding": "gzip" }),
      },
      body,
    });
    const said = Buffer.from(await response.arrayBuffer()).toString();
    // Nothing is said of an export that is taken whole: not even a member.
    const isWhole = response.status === 200 && (said === "" || said === "{}");
    return { code: isWhole ? "ok" : String(response.status), said };
  }
  const client = new Client(grpcAddress, credentials.createInsecure(), { "grpc.max_send_message_length": -1 });
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${key}`);
  try {
    return await new Promise((resolve) =>
      client.makeUnaryRequest(`/${NAME}`, same, same, body, metadata, (error: ServiceError | null, answer?: Buffer) => {
        if (error !== null) resolve({ code: status[error.code] ?? "", said: error.details });
        else resolve({ code: answer?.length === 0 ? "ok" : "partial", said: String(answer) });
      }),
    );
  } finally {
    client.close();
  }
}

/** Sends every shape at every door, and says what each cost. */
export async function* measureExports(
  { program, gauge }: Stage,
  names: RegExp,
): AsyncIterable<Measured & { ms: number }> {
  const key = program.bootstrap.admin.api_key;
  for (const [kind, shape] of Object.entries(SHAPES)) {
    for (const door of DOORS) {
      if (!names.test(`${NAME} ${door} ${kind}`)) continue;
      // What the first call compiles is not what its values cost.
      await sendExport(program, key, door, await bodyFor(door, exportOfShape(shape)));
      let [best, answer, ms] = [undefined as Cost | undefined, undefined as Answer | undefined, 0];
      for (let n = 0; n < ATTEMPTS && (best === undefined || best.loopMs > MOST_LOOP_MS); n++) {
        const body = await bodyFor(door, exportOfShape(shape));
        const began = performance.now();
        let took = 0;
        let said: Answer | undefined;
        const cost = await gauge.costOf(async () => {
          said = await sendExport(program, key, door, body);
          took = performance.now() - began;
        });
        if (best !== undefined && cost.loopMs >= best.loopMs) continue;
        [best, answer, ms] = [cost, said, took];
      }
      yield { name: NAME, door, field: "spans", kind, answer: answer!, ms, ...best! };
    }
  }
}
