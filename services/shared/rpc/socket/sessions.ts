import { constants, type ServerHttp2Session } from "node:http2";
import type { Connection } from "./connections.js";

/** A connection without a frame, a ping included, for this long is closed, in milliseconds. */
const IDLE_MS = 120_000;
/** Over this long is counted what costs us and brings nobody forward. */
const WINDOW_MS = 10_000;
/** Streams that the client may take back in a window (CVE-2023-44487); who is known, more. */
const STRANGERS_RESETS = 20;
const RESETS = 500;
/** Pings and settings in a window: gRPC clients ping once a round trip while they measure a path. */
const PINGS = 500;
const SETTINGS = 20;

/**
 * Watches over an HTTP/2 session and hangs up with ENHANCE_YOUR_CALM where its
 * client floods it. What else can be flooded Node and nghttp2 bound themselves:
 * CONTINUATION, invalid and empty frames, acknowledgements that nobody takes.
 */
export function guardSession(session: ServerHttp2Session, connection: Connection): void {
  const hangUp = (): void => {
    if (!session.destroyed) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    connection.socket.destroySoon();
  };
  connection.hangUp = hangUp;
  session.setTimeout(IDLE_MS, () => session.close());

  let since = performance.now();
  let resets = 0;
  let pings = 0;
  let settings = 0;
  const renew = (): void => {
    const now = performance.now();
    if (now - since < WINDOW_MS) return;
    since = now;
    resets = pings = settings = 0;
  };
  session.on("stream", (stream) => {
    stream.once("close", () => {
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR || !stream.aborted) return;
      renew();
      if (++resets > (connection.caller === undefined ? STRANGERS_RESETS : RESETS)) hangUp();
    });
  });
  session.on("ping", () => {
    renew();
    if (++pings > PINGS) hangUp();
  });
  session.on("remoteSettings", () => {
    renew();
    if (++settings > SETTINGS) hangUp();
  });
}
