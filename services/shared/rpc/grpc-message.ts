import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { shorten } from "../tools/shorten.js";

// The library escapes everything that a URL would. Clients of grpc-js undo only
// part of that, and show `%3A` and `%2C` where the sentence had a colon and a
// comma. gRPC itself asks for much less. A client ends a stream whose headers are
// longer than it takes, which is 8 KiB with many, and never hears why.

const NAME = "grpc-message";
const DETAILS = "grpc-status-details-bin";
/** The longest sentence of an error, in characters of its field. */
const MOST_SAID = 4_096;
/** The longest details that go beside it, in characters; longer ones are left out. */
const MOST_DETAILS = 3_072;
/** gRPC-Web has clients of its own, which undo all of it. */
const GRPC = /^application\/grpc(?:$|[+;])/;

/** A sentence as the field `grpc-message` has it (gRPC over HTTP/2, "Percent-Encoded"). */
export function grpcMessageOf(text: string): string {
  let kept = shorten(text, MOST_SAID);
  let field = escaped(kept);
  // How long a character is in the field is seen when it is there.
  for (; field.length > MOST_SAID; field = escaped(kept)) kept = shorten(kept, Math.floor((kept.length * 3) / 4));
  return field;
}

function escaped(text: string): string {
  const wellFormed = text.replace(/[\ud800-\udfff]/gu, "\ufffd");
  return wellFormed.replace(/[^\x20-\x24\x26-\x7e]+/gu, encodeURIComponent);
}

/** The same handler, whose errors every client of gRPC can read. */
export function readable(handler: UniversalHandler): UniversalHandler {
  const serve = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const response = await handler(request);
    const { header, body, trailer } = response;
    rewrite(header);
    if (trailer === undefined) return response;
    if (body === undefined || body === null) {
      rewrite(trailer);
      return response;
    }
    // What went wrong is known when all of the body has been made.
    return { ...response, body: before(body, () => rewrite(trailer)) };
  };
  const either = (request: UniversalServerRequest) =>
    GRPC.test(request.header.get("content-type") ?? "") ? serve(request) : handler(request);
  return Object.assign(either, handler);
}

function rewrite(headers: Headers | undefined): void {
  const said = headers?.get(NAME);
  if (said != null) headers?.set(NAME, grpcMessageOf(decodeURIComponent(said)));
  if ((headers?.get(DETAILS)?.length ?? 0) > MOST_DETAILS) headers?.delete(DETAILS);
}

/** The same body; `end` is called when it has come to its own. */
async function* before(body: AsyncIterable<Uint8Array>, end: () => void): AsyncIterable<Uint8Array> {
  yield* body;
  end();
}
