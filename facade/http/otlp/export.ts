import { create, type DescMessage, type JsonObject, type MessageShape, toBinary, toJson } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, type ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus } from "@connectrpc/connect/protocol-connect";
import {
  type ExportLogsServiceRequest,
  ExportLogsServiceRequestSchema,
} from "#proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import {
  type ExportTraceServiceRequest,
  ExportTraceServiceRequestSchema,
  type ExportTraceServiceResponse,
  ExportTraceServiceResponseSchema,
} from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { boundsOf } from "../../../services/shared/rpc/bounds.js";
import { resourceExhausted, unavailable, unimplemented } from "../../../services/shared/rpc/errors.js";
import { unreadMessage } from "../../../services/shared/rpc/unread.js";
import { decodeExport, decodeLogs } from "./decode.js";
import type { ExportReader } from "./reader.js";
import { unpackedWithin } from "./unpack.js";

// OTLP over HTTP (OpenTelemetry Protocol 1.x, "OTLP/HTTP"): the messages of
// gRPC's Export in a body, as protobuf or as JSON that differs from
// protobuf's own in that ids are hexadecimal.

/** A body of OTLP that is answered. */
export interface OtlpBody {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** What was read of an export: its spans as far as they fit, and how many did not. */
export interface ReadExport {
  /** Of a long one the bytes, unread (services/shared/rpc/unread.ts). */
  readonly request: ExportTraceServiceRequest;
  readonly left: number;
}

const PROTOBUF = "application/x-protobuf";
const JSON_TYPE = "application/json";
const BOUNDS = boundsOf(ExportTraceServiceRequestSchema);
/** Bytes of an export of logs, packed and unpacked: it is always read here. */
export const MAX_LOGS_BYTES = boundsOf(ExportLogsServiceRequestSchema).bytes;
/** Bytes of an export that is read here, unpacked. */
const READ_HERE = BOUNDS.unread ?? 0;

/** How a body was sent, and the memory that is counted for it. */
export interface Packing {
  /** Media type, with or without parameters. */
  readonly contentType: string;
  /** The header content-encoding: gzip, or none. */
  readonly contentEncoding?: string | undefined;
  /** Takes bytes of memory, and gives them back where they are less than 0; false where they are not to be had. */
  readonly keep?: (bytes: number) => boolean;
}

/** Whether spans are sent in this media type. */
export function isOtlp(contentType: string): boolean {
  return typeOf(contentType) !== undefined;
}

/** Says which media types there are. */
export const OTLP_TYPES = `the media type is not supported: send ${PROTOBUF} or ${JSON_TYPE}`;

/**
 * Reads an export of spans, whose pieces have their memory already. Of one that is too long the spans that fit
 * are read, and the others counted. A long one is unpacked, cut and, where it is JSON, made protobuf in a thread.
 *
 * @throws ConnectError unimplemented for another media type or coding,
 *   resource_exhausted for too much, invalid_argument for what is no such message,
 *   unavailable where there is no memory for it now, or the thread ended with another one.
 */
export async function readExport(
  body: AsyncIterable<Uint8Array>,
  { contentType, contentEncoding = "", keep = () => true }: Packing,
  reader: ExportReader,
): Promise<ReadExport> {
  const { encoding, isPacked } = formOf(contentType, contentEncoding);
  const { front, rest, isWhole } = await begunOf(body, READ_HERE);
  const short = isWhole ? await shortOf(front, isPacked) : undefined;
  if (short !== undefined) {
    if (isPacked) {
      keep(-front.byteLength);
      if (!keep(short.byteLength))
        throw unavailable("the service has no memory for this export now: send it again in a few seconds");
    }
    return { request: decodeExport(short, encoding), left: 0 };
  }
  const { bytes, left } = await reader.read(rest, { encoding, isPacked, keep });
  return { request: unreadMessage(ExportTraceServiceRequestSchema, { bytes, encoding: "protobuf" }), left };
}

/**
 * Reads an export of logs: it has the bounds of a message of ours, and is read at once.
 *
 * @throws ConnectError unimplemented for another media type or coding, resource_exhausted for too much,
 *   invalid_argument for what is no such message, unavailable where there is no memory for it now.
 */
export async function readLogs(
  body: AsyncIterable<Uint8Array>,
  { contentType, contentEncoding = "", keep = () => true }: Packing,
): Promise<ExportLogsServiceRequest> {
  const { encoding, isPacked } = formOf(contentType, contentEncoding);
  const { front, isWhole } = await begunOf(body, MAX_LOGS_BYTES);
  const whole = isWhole ? (isPacked ? await unpackedWithin(front, MAX_LOGS_BYTES) : front) : undefined;
  if (whole === undefined)
    throw resourceExhausted(`the export is longer than ${MAX_LOGS_BYTES} bytes: send fewer log records at once`);
  if (isPacked && !keep(whole.byteLength))
    throw unavailable("the service has no memory for this export now: send it again in a few seconds");
  // What is read of a Buffer would be Buffers.
  return decodeLogs(Uint8Array.from(whole), encoding);
}

/** How a body is written. @throws ConnectError unimplemented. */
function formOf(contentType: string, contentEncoding: string) {
  const type = typeOf(contentType);
  if (type === undefined) throw unimplemented(OTLP_TYPES);
  const coding = contentEncoding.trim().toLowerCase();
  const isPacked = coding === "gzip";
  if (!isPacked && coding !== "" && coding !== "identity")
    throw unimplemented("the content coding is not supported: use gzip or no content coding");
  return { isPacked, encoding: type === PROTOBUF ? ("protobuf" as const) : ("json" as const) };
}

/** What a short body says; undefined where it unpacks to a long one. */
async function shortOf(front: Uint8Array, isPacked: boolean): Promise<Uint8Array | undefined> {
  // What is read of a Buffer would be Buffers.
  if (!isPacked) return Uint8Array.from(front);
  const { buffer, byteOffset, byteLength } = (await unpackedWithin(front, READ_HERE)) ?? {};
  return buffer === undefined ? undefined : new Uint8Array(buffer, byteOffset, byteLength);
}

/** The beginning of a body, and all of it: what is past the beginning is read when it is asked for. */
async function begunOf(body: AsyncIterable<Uint8Array>, most: number) {
  const pieces: Uint8Array[] = [];
  let size = 0;
  let isWhole = false;
  const more = body[Symbol.asyncIterator]();
  while (size <= most && !isWhole) {
    const next = await more.next();
    if (next.done === true) isWhole = true;
    else {
      pieces.push(next.value);
      size += next.value.byteLength;
    }
  }
  const front = Buffer.concat(pieces);
  async function* rest(): AsyncIterable<Uint8Array> {
    try {
      yield front;
      if (!isWhole) yield* { [Symbol.asyncIterator]: () => more };
    } finally {
      await more.return?.();
    }
  }
  return { front, rest: rest(), isWhole: isWhole && size <= most };
}

/** What is answered to an export of which so many spans were not read. */
export function withLeft(response: ExportTraceServiceResponse, left: number): ExportTraceServiceResponse {
  if (left === 0) return response;
  const { rejectedSpans = 0n, errorMessage = "" } = response.partialSuccess ?? {};
  const why = `an export has at most ${BOUNDS.bytes} bytes: send fewer spans at once`;
  const partialSuccess = {
    rejectedSpans: rejectedSpans + BigInt(left),
    errorMessage: errorMessage === "" ? why : `${errorMessage}; ${why}`,
  };
  return create(ExportTraceServiceResponseSchema, { partialSuccess });
}

/** What is answered to an export that was taken, in the encoding that it came in. */
export function exportAnswer<D extends DescMessage>(
  schema: D,
  response: MessageShape<D>,
  contentType: string,
): OtlpBody {
  if (typeOf(contentType) !== JSON_TYPE) return { contentType: PROTOBUF, bytes: toBinary(schema, response) };
  return jsonBody(toJson(schema, response) as JsonObject);
}

/** The HTTP status of a body that could not be read (readExport): one by which exporters do not send it again, but where waiting helps. */
export function unreadStatus({ code }: ConnectError): number {
  if (code === Code.Unimplemented) return 415;
  return code === Code.ResourceExhausted ? 413 : codeToHttpStatus(code);
}

/**
 * What is answered to one that failed: google.rpc.Status in the encoding that
 * it came in, in JSON to what came in none.
 */
export function exportFailure({ code, rawMessage: message }: ConnectError, contentType: string): OtlpBody {
  if (typeOf(contentType) !== PROTOBUF) return jsonBody({ code, message });
  const written = new BinaryWriter().tag(1, WireType.Varint).int32(code).tag(2, WireType.LengthDelimited);
  return { contentType: PROTOBUF, bytes: written.string(message).finish() };
}

function typeOf(contentType: string): typeof PROTOBUF | typeof JSON_TYPE | undefined {
  const type = contentType.split(";")[0]?.trim().toLowerCase();
  return type === PROTOBUF || type === JSON_TYPE ? type : undefined;
}

function jsonBody(json: JsonObject): OtlpBody {
  return { contentType: JSON_TYPE, bytes: Buffer.from(JSON.stringify(json)) };
}
