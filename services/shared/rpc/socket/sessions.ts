import { constants, type ServerHttp2Session } from "node:http2";
import type { Connection } from "./connection.js";

/** A connection without a frame, a ping included, for this long is closed, in milliseconds. */
const IDLE_MS = 120_000;
/** Over this long is counted what costs us and brings nobody forward. */
const WINDOW_MS = 10_000;
/** Pings and settings in a window: gRPC clients ping once a round trip while they measure a path. */
const PINGS = 500;
const SETTINGS = 20;
/**
 * Calls of one of our own processes at once. Behind a hundred new keys that it has verified here, its other calls would
 * wait in its session until they are late.
 */
const OUR_STREAMS = 4_000;

/** What is heard of a session. */
export interface OnSession {
  /** Its client floods it. */
  flooded(): void;
  /** Its client took a stream back (CVE-2023-44487). */
  takenBack(): void;
}

/**
 * Watches over an HTTP/2 session whose client may flood it; its farewell is
 * ENHANCE_YOUR_CALM. What else can be flooded Node and nghttp2 bound themselves:
 * CONTINUATION, invalid and empty frames, acknowledgements that nobody takes.
 */
export function guardSession(
  session: ServerHttp2Session,
  connection: Connection,
  { flooded, takenBack }: OnSession,
): void {
  connection.farewell = (): void => {
    if (!session.destroyed) {
      // destroy() alone says NO_ERROR, or fails every stream.
      if (!session.closed) session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      session.destroy();
    }
    connection.socket.destroySoon();
  };
  connection.widen = (): void => {
    if (!session.closed && !session.destroyed) session.settings({ maxConcurrentStreams: OUR_STREAMS });
  };
  session.setTimeout(IDLE_MS, () => session.close());
  // What is no HTTP/2 costs as much as what is too much of it; that a client goes away costs nothing.
  session.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code?.startsWith("ERR_HTTP2_")) flooded();
  });

  let since = performance.now();
  let pings = 0;
  let settings = 0;
  const renew = (): void => {
    const now = performance.now();
    if (now - since < WINDOW_MS) return;
    since = now;
    pings = settings = 0;
  };
  session.on("stream", (stream) => {
    stream.once("close", () => {
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR && stream.aborted) takenBack();
    });
  });
  session.on("ping", () => {
    renew();
    if (++pings > PINGS) flooded();
  });
  session.on("remoteSettings", () => {
    renew();
    if (++settings > SETTINGS) flooded();
  });
}
