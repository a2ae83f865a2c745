import type { ServerResponse } from "node:http";
import { constants, type Http2ServerResponse } from "node:http2";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { announced, type NodeRequest } from "./body.js";
import type { Waiting } from "./unread.js";

/** A response of either version of HTTP. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

/** How long a client may leave what is written to it unread, in milliseconds. */
const UNREAD_MS = 30_000;
/** What still comes of a body that nobody wants is thrown away, so much of it and for so long. */
const DISCARDED_BYTES = 64 << 10;
const DISCARD_MS = 2_000;

/** Writes an answer; a client that does not read it is left. @param waiting counts what is not read yet. */
export function answer(response: NodeResponse, { body, ...rest }: UniversalServerResponse, waiting?: Waiting): void {
  const unread = setTimeout(() => abandon(response), UNREAD_MS);
  const taken = body === undefined ? undefined : untaken(body, unread, waiting);
  response.once("close", () => {
    clearTimeout(unread);
    // A write that waits for a stream which is gone is never heard of again, and neither is what made the answer.
    taken?.return(undefined).catch(() => undefined);
  });
  if (body === undefined && rest.trailer === undefined) {
    // In one frame with the end of the stream: clients of gRPC take a status in the headers only so.
    response.statusCode = rest.status;
    for (const [name, value] of rest.header ?? []) response.setHeader(name, value);
    return void response.end();
  }
  // It fails where the client went away, of which the method knows by its signal.
  universalResponseToNodeResponse({ ...rest, ...(taken && { body: taken }) }, response).catch(() => {
    // It may have gone before there was an answer.
    clearTimeout(unread);
    abandon(response);
  });
}

/** The clock runs while a chunk waits to be taken, and from the last one on. */
async function* untaken(
  body: AsyncIterable<Uint8Array>,
  unread: NodeJS.Timeout,
  waiting: Waiting | undefined,
): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const chunk of body) {
      unread.refresh();
      waiting?.holds(chunk.byteLength);
      yield chunk;
      unread.refresh();
      waiting?.holds(0);
    }
  } finally {
    waiting?.leave();
  }
}

/** Throws away what comes of a request that is answered without its body, and ends it where that goes on. */
export function discard(request: NodeRequest, response: NodeResponse): void {
  if (request.complete) return;
  if (!("stream" in request) && (announced(request) ?? Number.POSITIVE_INFINITY) > DISCARDED_BYTES) {
    response.setHeader("connection", "close");
  }
  let left = DISCARDED_BYTES;
  const end = (): void => {
    if ("stream" in request) request.stream.close(constants.NGHTTP2_NO_ERROR);
    else if (response.writableFinished) request.socket.destroySoon();
    // The answer comes first: the rest is left where it is until then.
    else response.once("finish", () => request.socket.destroySoon()) && request.pause();
  };
  const timer = setTimeout(end, DISCARD_MS);
  const done = (): void => clearTimeout(timer);
  request.once("end", done).once("close", done);
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) end();
  });
  request.resume();
}

/** Leaves a client that takes nothing. */
export function abandon(response: NodeResponse): void {
  if ("stream" in response) {
    if (!response.stream.destroyed) response.stream.close(constants.NGHTTP2_CANCEL);
  } else response.socket?.destroy();
}
