import { connect, type Socket } from "node:net";

/** A connection on which a test writes what no client would. */
export interface RawSocket {
  readonly socket: Socket;
  /** What has come so far. */
  readonly text: () => string;
  /** Whether the other end has closed. */
  readonly closed: () => boolean;
  /** Resolves with all that came once the other end has closed. */
  readonly ended: Promise<string>;
}

/** Connects and writes; `bytes` are sent as they are. */
export function raw(port: number, bytes: string): RawSocket {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  let closed = false;
  socket.on("error", () => undefined);
  socket.on("data", (data) => {
    text += data;
  });
  const ended = new Promise<string>((resolve) => {
    socket.on("close", () => {
      closed = true;
      resolve(text);
    });
  });
  socket.write(bytes);
  return { socket, text: () => text, closed: () => closed, ended };
}

/** The bytes of a request; `headers` are lines without their ends. */
export function requestText(path: string, headers: readonly string[], body = "", method = "POST"): string {
  return `${[`${method} ${path} HTTP/1.1`, ...headers].join("\r\n")}\r\n\r\n${body}`;
}

/** The header lines of a modern message, its framing left out. */
export function headerLines(headers: Readonly<Record<string, string>>, token = "good"): string[] {
  return [
    "host: 127.0.0.1",
    ...(token === "" ? [] : [`authorization: Bearer ${token}`]),
    "content-type: application/json",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
}
