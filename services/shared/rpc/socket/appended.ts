import { createContextKey, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest } from "@connectrpc/connect/protocol";

// A long part that is the same in many answers is written once. The library copies each
// message three times, and a stream whose client takes nothing keeps the last copy.

/** An envelope: one byte of flags, four of length (gRPC over HTTP/2, "Length-Prefixed-Message"). */
const PREFIX_BYTES = 5;
const LENGTH_AT = 1;
/** Where a response is protobuf in an envelope. */
const BINARY = /^application\/(?:grpc|grpc-web|connect)(?:\+proto)?$/;

/** Under which a handler finds what it may append by. */
export const APPEND = createContextKey<((fields: Uint8Array) => void) | undefined>(undefined);

/** The same handler of streams, whose methods may append fields that are written already to the response that they give next. */
export function appending(handler: UniversalHandler): UniversalHandler {
  const serve = async (request: UniversalServerRequest) => {
    if (!BINARY.test(request.header.get("content-type") ?? "")) return handler(request);
    const contextValues = request.contextValues ?? createContextValues();
    let next: Uint8Array | undefined;
    contextValues.set(APPEND, (fields) => {
      next = fields;
    });
    const take = (): Uint8Array | undefined => {
      const fields = next;
      next = undefined;
      return fields;
    };
    const response = await handler({ ...request, contextValues });
    return response.body ? { ...response, body: withFields(response.body, take) } : response;
  };
  return Object.assign(serve, handler);
}

/** Of each message the chunk is asked for, and with it what its method appends, before the one after it. */
async function* withFields(
  body: AsyncIterable<Uint8Array>,
  take: () => Uint8Array | undefined,
): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    const fields = take();
    if (fields === undefined) {
      yield chunk;
      continue;
    }
    const length = chunk.byteLength - PREFIX_BYTES + fields.byteLength;
    new DataView(chunk.buffer, chunk.byteOffset, PREFIX_BYTES).setUint32(LENGTH_AT, length);
    yield chunk;
    yield fields;
  }
}
