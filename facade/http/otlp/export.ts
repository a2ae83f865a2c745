import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { create, fromBinary, fromJson, type JsonObject, toBinary, toJson } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus } from "@connectrpc/connect/protocol-connect";
import {
  type ExportTraceServiceRequest,
  ExportTraceServiceRequestSchema,
  type ExportTraceServiceResponse,
  ExportTraceServiceResponseSchema,
} from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { boundsOf } from "../../../services/shared/rpc/bounds.js";
import { invalidArgument, resourceExhausted, unavailable, unimplemented } from "../../../services/shared/rpc/errors.js";
import { excessOf } from "../../../services/shared/rpc/json-shape.js";
import { checkWire } from "../../../services/shared/rpc/wire.js";
import { cutExport } from "./cut.js";

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
  readonly request: ExportTraceServiceRequest;
  readonly left: number;
}

const PROTOBUF = "application/x-protobuf";
const JSON_TYPE = "application/json";
const BOUNDS = boundsOf(ExportTraceServiceRequestSchema);
const IDS = ["traceId", "spanId", "parentSpanId"] as const;
const HEX = /^(?:[0-9a-fA-F]{2})*$/;
const UTF8 = new TextDecoder("utf-8", { fatal: true });

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
export const OTLP_TYPES = `spans are sent as ${PROTOBUF} or ${JSON_TYPE}`;

/**
 * Reads an export of spans, whose pieces have their memory already. Of one that is too long the spans that fit
 * are read, and the others counted.
 *
 * @throws ConnectError unimplemented for another media type or coding,
 *   resource_exhausted for too much, invalid_argument for what is no such message,
 *   unavailable where there is no memory for it now.
 */
export async function readExport(
  body: AsyncIterable<Uint8Array>,
  { contentType, contentEncoding = "", keep = () => true }: Packing,
): Promise<ReadExport> {
  const type = typeOf(contentType);
  if (type === undefined) throw unimplemented(OTLP_TYPES);
  const coding = contentEncoding.trim().toLowerCase();
  const isPacked = coding === "gzip";
  if (!isPacked && coding !== "" && coding !== "identity")
    throw unimplemented("spans are sent with gzip, or without any content coding");
  const pieces = isPacked ? unpacked(body, keep) : body;
  const { bytes, left } = await cutExport(pieces, type === PROTOBUF ? "protobuf" : "json", (size, isKept) => {
    if (!isPacked && !isKept) keep(-size);
    if (isPacked && isKept && !keep(size)) throw unavailable("too much is in flight: send it again");
  });
  return { request: type === PROTOBUF ? ofProtobuf(bytes) : ofJson(bytes), left };
}

/** What is answered to an export of which so many spans were not read. */
export function withLeft(response: ExportTraceServiceResponse, left: number): ExportTraceServiceResponse {
  if (left === 0) return response;
  const { rejectedSpans = 0n, errorMessage = "" } = response.partialSuccess ?? {};
  const why = `an export of spans is at most ${BOUNDS.bytes} bytes: send fewer spans at once`;
  const partialSuccess = {
    rejectedSpans: rejectedSpans + BigInt(left),
    errorMessage: errorMessage === "" ? why : `${errorMessage}; ${why}`,
  };
  return create(ExportTraceServiceResponseSchema, { partialSuccess });
}

/** What is answered to an export that was taken, in the encoding that it came in. */
export function exportAnswer(response: ExportTraceServiceResponse, contentType: string): OtlpBody {
  if (typeOf(contentType) !== JSON_TYPE) {
    return { contentType: PROTOBUF, bytes: toBinary(ExportTraceServiceResponseSchema, response) };
  }
  return jsonBody(toJson(ExportTraceServiceResponseSchema, response) as JsonObject);
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

/** What a body unpacks to, as fast as it is read: its own bytes are given back as they are. */
async function* unpacked(body: AsyncIterable<Uint8Array>, keep: (bytes: number) => boolean): AsyncIterable<Uint8Array> {
  async function* packed(): AsyncIterable<Uint8Array> {
    for await (const piece of body) {
      yield piece;
      keep(-piece.byteLength);
    }
  }
  const unzip = createGunzip();
  // Whoever reads it hears of its errors.
  pipeline(Readable.from(packed()), unzip, () => undefined);
  try {
    yield* unzip as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith("Z_")) throw error;
    throw invalidArgument("the body is not gzip, as its content-encoding says", error);
  }
}

function ofProtobuf(bytes: Uint8Array): ExportTraceServiceRequest {
  checkWire(ExportTraceServiceRequestSchema, bytes, BOUNDS);
  return fromBinary(ExportTraceServiceRequestSchema, bytes);
}

function ofJson(bytes: Uint8Array): ExportTraceServiceRequest {
  let json: JsonObject;
  try {
    const excess = excessOf(bytes);
    if (excess !== undefined) throw resourceExhausted(`the body ${excess}`);
    json = JSON.parse(UTF8.decode(bytes)) as JsonObject;
  } catch (error) {
    if (error instanceof ConnectError) throw error;
    throw invalidArgument("the body is not JSON", error);
  }
  for (const span of spansIn(json)) {
    toBase64(span);
    for (const link of membersOf(span, "links")) toBase64(link);
  }
  try {
    // "OTLP/JSON receivers MUST ignore message fields with unknown names."
    return fromJson(ExportTraceServiceRequestSchema, json, { ignoreUnknownFields: true });
  } catch (error) {
    throw invalidArgument(`the body is no export of spans: ${(error as Error).message}`, error);
  }
}

function* spansIn(json: unknown): Iterable<JsonObject> {
  for (const resource of membersOf(json, "resourceSpans"))
    for (const scope of membersOf(resource, "scopeSpans")) yield* membersOf(scope, "spans");
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
    if (!HEX.test(id)) throw invalidArgument(`a ${name} is not hexadecimal, as OTLP has it in JSON`);
    span[name] = Buffer.from(id, "hex").toString("base64");
  }
}

function jsonBody(json: JsonObject): OtlpBody {
  return { contentType: JSON_TYPE, bytes: Buffer.from(JSON.stringify(json)) };
}
