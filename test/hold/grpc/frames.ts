// HTTP/2 by hand (RFC 9113): what a decent client would not send.

/** What every client of HTTP/2 says first, with empty settings. */
export const PREFACE = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0)]);
/** Settings that give the server no window to answer in. */
export const PREFACE_WITHOUT_WINDOW = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  frame(4, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0])),
]);
/** Flags of HEADERS and DATA. */
export const END_STREAM = 1;
export const END_HEADERS = 4;

/** One frame: type and flags as in RFC 9113 section 6. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** The HEADERS of a call, in literals without a table (RFC 7541 section 6.2.2). */
export function headers(
  stream: number,
  path: string,
  more: Readonly<Record<string, string>>,
  flags = END_HEADERS,
): Buffer {
  const fields = {
    ":method": "POST",
    ":scheme": "http",
    ":path": path,
    ":authority": "127.0.0.1",
    "content-type": "application/grpc",
    te: "trailers",
    ...more,
  };
  return frame(1, flags, stream, Buffer.concat(Object.entries(fields).map(([name, value]) => literal(name, value))));
}

/** One header, never indexed. */
export function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const rest: number[] = [127];
  let left = bytes.length - 127;
  for (; left >= 128; left >>= 7) rest.push((left & 127) | 128);
  rest.push(left);
  return Buffer.concat([Buffer.from(rest), bytes]);
}

/** The frames of DATA that a body makes. */
export function data(stream: number, body: Uint8Array, endsStream = false): Buffer {
  return frame(0, endsStream ? END_STREAM : 0, stream, body);
}
