import { type DescMessage, fromJson, type JsonReadOptions, type JsonValue, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError, type ContextValues, createContextKey, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { type Bounds, boundsOf } from "./bounds.js";
import { invalidArgument, resourceExhausted, unimplemented } from "./errors.js";
import { readable } from "./grpc-message.js";
import { excessOf } from "./json-shape.js";
import { ambiguityIn } from "./json-twice.js";
import { holdsSecret } from "./secret-fields.js";
import "./text-encoding.js";
import { unreadMessage } from "./unread.js";
import { textOfUtf8 } from "./utf8.js";
import { checkWire, checkWireBegun } from "./wire.js";

/** A message before its bytes: one byte of flags, four of its length (gRPC over HTTP/2, "Length-Prefixed-Message"). */
const PREFIX_BYTES = 5;
const ENVELOPED = /^application\/(?:grpc|connect\+)/;
const JSON_TYPE = /[/+]json\b/;

const INSTEAD = createContextKey<Message | undefined>(undefined);

/** Longer JSON is decoded here, in bytes: the library looks for names that are there twice once more, character by character. */
const DECODED_HERE = 64 << 10;

/** What a handler was asked: the message that was decoded for it, or the one that stands in its place. */
export function askedIn<M extends Message>(decoded: M, values: ContextValues): M {
  return (values.get(INSTEAD) as M | undefined) ?? decoded;
}

/**
 * The same handler, which is given only messages that are cheap to decode: what
 * is too long, too deep or made of too much is refused before, in words that
 * every client can read.
 *
 * @param jsonOptions those of the handler. One of a unary method reads what it was asked with {@link askedIn}.
 */
export function bounded(unbounded: UniversalHandler, jsonOptions: Partial<JsonReadOptions>): UniversalHandler {
  const handler = readable(unbounded);
  const { input, methodKind } = handler.method;
  const bounds = boundsOf(input);
  const serve = (request: UniversalServerRequest) => {
    const { body } = request;
    if (!isStream(body)) return handler(request);
    const type = request.header.get("content-type") ?? "";
    const isJson = JSON_TYPE.test(type);
    const contextValues = request.contextValues ?? createContextValues();
    const instead = (message: Message): Uint8Array => {
      contextValues.set(INSTEAD, message);
      return isJson ? EMPTY_JSON : NOTHING;
    };
    const check = (bytes: Uint8Array): Uint8Array | undefined => {
      if (bytes.length > (bounds.unread ?? Number.POSITIVE_INFINITY)) {
        return instead(unreadMessage(input, { bytes, encoding: isJson ? "json" : "protobuf" }));
      }
      if (!isJson) return void checkWire(input, bytes, bounds);
      const text = checkWholeJson(input, bytes);
      const isDecodedHere = methodKind === "unary" && bytes.length > DECODED_HERE;
      return isDecodedHere ? instead(decoded(input, text, jsonOptions)) : undefined;
    };
    const checked = ENVELOPED.test(type) ? eachOf(body, bounds, check) : whole(body, bounds, check);
    return handler({ ...request, header: headerOf(request, bounds), contextValues, body: checked });
  };
  return Object.assign(serve, handler);
}

/** @throws ConnectError invalid_argument, in the library's words. */
function decoded(input: DescMessage, text: string, options: Partial<JsonReadOptions>): Message {
  let json: JsonValue;
  try {
    json = JSON.parse(text) as JsonValue;
  } catch (error) {
    const { message } = error as Error;
    throw invalidArgument(`cannot decode message ${input.typeName} from JSON: ${message}`, error);
  }
  try {
    return fromJson(input, json, options);
  } catch (error) {
    throw ConnectError.from(error, Code.InvalidArgument);
  }
}

/**
 * Checks what has come of a body of one message, of which there is more to come.
 *
 * @throws ConnectError where it is too deep or made of too much already.
 */
export function checkBegun(input: DescMessage, type: string, body: Uint8Array): void {
  const message = ENVELOPED.test(type) ? body.subarray(PREFIX_BYTES) : body;
  if (JSON_TYPE.test(type)) checkJson(message);
  else checkWireBegun(input, message, boundsOf(input));
}

function isStream(body: UniversalServerRequest["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

/** Checks a message; gives what stands in its place where it is left unread. */
type Check = (bytes: Uint8Array) => Uint8Array | undefined;

const NOTHING = new Uint8Array(0);
const EMPTY_JSON = new TextEncoder().encode("{}");

/** The length that is announced is not that of what stands in the place of a message. */
function headerOf({ header }: UniversalServerRequest, { unread = DECODED_HERE }: Bounds): Headers {
  if (!(Number(header.get("content-length")) > unread)) return header;
  const without = new Headers(header);
  without.delete("content-length");
  return without;
}

/** A body that is one message. */
async function* whole(body: AsyncIterable<Uint8Array>, { bytes }: Bounds, check: Check): AsyncIterable<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.byteLength;
    if (length > bytes) throw tooLong(bytes);
    pieces.push(piece);
  }
  const message = pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces, length);
  yield check(message) ?? message;
}

/** A body of messages, each after its length. */
async function* eachOf(body: AsyncIterable<Uint8Array>, { bytes }: Bounds, check: Check): AsyncIterable<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece);
    length += piece.byteLength;
    if (length < PREFIX_BYTES) continue;
    // The first piece always tells the length of its message.
    if ((pieces[0] as Uint8Array).byteLength < PREFIX_BYTES) pieces = [Buffer.concat(pieces, length)];
    let rest = pieces[0] as Uint8Array;
    while (rest.byteLength >= PREFIX_BYTES) {
      const end = PREFIX_BYTES + lengthIn(rest);
      if (rest[0] !== 0)
        throw unimplemented("the message is compressed, which the service does not support: send it uncompressed");
      if (end - PREFIX_BYTES > bytes) throw tooLong(bytes);
      if (length < end) break;
      if (rest.byteLength < end) rest = Buffer.concat(pieces, length);
      const instead = check(rest.subarray(PREFIX_BYTES, end));
      yield instead === undefined ? rest.subarray(0, end) : envelopeOf(instead);
      rest = rest.subarray(end);
      length -= end;
      pieces = [rest];
    }
  }
  if (length > 0) throw invalidArgument("the message is shorter than its length prefix says");
}

function envelopeOf(message: Uint8Array): Uint8Array {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

function lengthIn(prefix: Uint8Array): number {
  return new DataView(prefix.buffer, prefix.byteOffset, prefix.byteLength).getUint32(1);
}

function checkJson(bytes: Uint8Array): void {
  const excess = excessOf(bytes);
  if (excess !== undefined) throw invalidArgument(`the message ${excess}`);
}

/**
 * The text of a message in JSON, which is not too deep, not too much, and not one that others could read differently.
 *
 * @throws ConnectError invalid_argument.
 */
export function textOfJson(bytes: Uint8Array): string {
  checkJson(bytes);
  const text = textOfUtf8(bytes);
  if (text === undefined) throw invalidArgument("the message is not UTF-8");
  const fault = ambiguityIn(text);
  if (fault !== undefined) throw invalidArgument(`the message is refused because ${fault}`);
  return text;
}

/** The text of a message that may be decoded: a decoder's error is not the place for a secret. */
function checkWholeJson(input: DescMessage, bytes: Uint8Array): string {
  const text = textOfJson(bytes);
  if (!holdsSecret(input)) return text;
  try {
    fromJson(input, JSON.parse(text), { ignoreUnknownFields: true });
  } catch {
    throw invalidArgument(
      "the message does not match its schema; this error does not repeat the message, because it may contain a secret",
    );
  }
  return text;
}

function tooLong(bytes: number): Error {
  return resourceExhausted(`the message is longer than ${bytes} bytes, the limit of this rpc: send less at once`);
}
