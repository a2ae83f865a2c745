import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { createKeyFormat, DEFAULT_KEY_PREFIX } from "../../../services/shared/credentials/format.js";
import { type Hostile, overTcp } from "../hostile.js";
import { data, END_HEADERS, END_STREAM, frame, headers, literal, PREFACE, PREFACE_WITHOUT_WINDOW } from "./frames.js";

// Hostile connections to the gRPC port: HTTP/2 by hand, and HTTP/1.1 on the same
// port. One row a kind: what a connection does until it is thrown out.

const AGENTS = "/core.v1.AgentService/ListAgents";
const EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const CHECK = "/grpc.health.v1.Health/Check";
const WATCH = "/grpc.health.v1.Health/Watch";
const EMPTY_MESSAGE = Buffer.alloc(5);
const format = createKeyFormat(DEFAULT_KEY_PREFIX);

const unknownKey = (): Record<string, string> => ({ authorization: `Bearer ${format.mint().token}` });
const keyOf = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

/** Opens a session, then behaves as told. */
const session = (
  behave: (socket: Socket, key: string, every: (ms: number, action: () => void) => void) => void,
): Hostile =>
  overTcp((socket, { key }, every) => {
    socket.write(PREFACE);
    behave(socket, key, every);
  });

/** Sends the same without end and as fast as it is taken. */
function pour(socket: Socket, piece: () => Buffer): void {
  const more = (): void => {
    for (let i = 0; i < 64 && socket.writable; i++) if (!socket.write(piece())) return;
    if (socket.writable) setImmediate(more);
  };
  socket.on("drain", more);
  more();
}

/** Calls without end, each in a stream of its own, many to a packet. */
function calls(
  socket: Socket,
  path: string,
  more: () => Record<string, string>,
  after: (stream: number) => Buffer[],
): void {
  let stream = -1;
  pour(socket, () => {
    const frames: Buffer[] = [];
    for (let i = 0; i < 32; i++) {
      stream += 2;
      frames.push(headers(stream, path, more()), ...after(stream));
    }
    return Buffer.concat(frames);
  });
}

const reset = (stream: number): Buffer[] => [frame(3, 0, stream, Buffer.from([0, 0, 0, 8]))];
const message = (stream: number): Buffer[] => [data(stream, EMPTY_MESSAGE, true)];
const nothing = (): Record<string, string> => ({});

/** Begins a call and sends a byte of its message a second. */
const slowBody = (path: string, more: (key: string) => Record<string, string>): Hostile =>
  session((socket, key, every) => {
    socket.write(headers(1, path, more(key)));
    every(1_000, () => socket.write(data(1, Buffer.alloc(1))));
  });

/** Three million empty sub-messages, in frames of 16 KiB, whatever it is told. */
const emptyMessages = (more: (key: string) => Record<string, string>): Hostile =>
  session((socket, key) => {
    const body = Buffer.alloc(16 << 10);
    for (let at = 0; at < body.length; at += 2) body[at] = 0x0a;
    socket.write(headers(1, EXPORT, { ...more(key), "content-type": "application/proto" }));
    let left = 4 << 20;
    pour(socket, () => {
      left -= body.length;
      if (left <= 0) socket.end();
      return data(1, body);
    });
  });

/** A call whose answer it leaves no window for, on each of sixteen streams. */
const neverReads = (path: string, more: (key: string) => Record<string, string>): Hostile =>
  overTcp((socket, { key }) => {
    socket.write(PREFACE_WITHOUT_WINDOW);
    socket.pause();
    for (let stream = 1; stream < 32; stream += 2) {
      socket.write(Buffer.concat([headers(stream, path, more(key)), ...message(stream)]));
    }
  });

/** Asks reflection for the file of a service: ServerReflectionRequest.file_containing_symbol, in an envelope. */
function longAnswer(stream: number): Buffer {
  const symbol = Buffer.from("core.v1.AgentService");
  const body = Buffer.concat([Buffer.from([0x22, symbol.length]), symbol]);
  return data(stream, Buffer.concat([Buffer.from([0, 0, 0, 0, body.length]), body]), true);
}

/** A hundred calls with a window of 0, and another for each that ends: what is refused needs no window. */
const neverReadsAndRepeats = (path: string, body: (stream: number) => Buffer): Hostile =>
  overTcp((socket, { key }) => {
    let stream = -1;
    const call = (): void => {
      stream += 2;
      socket.write(Buffer.concat([headers(stream, path, keyOf(key)), body(stream)]));
    };
    socket.write(PREFACE_WITHOUT_WINDOW);
    for (let i = 0; i < 100; i++) call();
    let heard: Buffer = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      heard = Buffer.concat([heard, chunk]);
      for (let end = 0; heard.length >= 9; heard = heard.subarray(end)) {
        end = 9 + heard.readUIntBE(0, 3);
        if (heard.length < end) return;
        const [type, flags] = [heard[3], heard[4] as number];
        if (type === 3 || (type === 1 && (flags & END_STREAM) !== 0)) call();
      }
    });
  });

const http1 = (path: string, length: number, more = ""): string =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n`;

/** Every kind of hostile connection to the gRPC port, by its name. */
export const GRPC_KINDS: Readonly<Record<string, Hostile>> = {
  "says nothing": overTcp(() => undefined),
  "one byte, then nothing": overTcp((socket) => void socket.write("P")),
  "a preface, then nothing": session(() => undefined),
  "a ping a second": session((socket, _key, every) =>
    every(1_000, () => socket.write(frame(6, 0, 0, Buffer.alloc(8)))),
  ),
  "no key, again and again": session((socket) => calls(socket, AGENTS, nothing, message)),
  "unknown keys, again and again": session((socket) => calls(socket, AGENTS, unknownKey, message)),
  "no such rpc, again and again": session((socket) => calls(socket, "/none.Such/Rpc", nothing, message)),
  "a connection a call": session((socket) => {
    socket.on("data", (chunk) => chunk.length > 40 && socket.destroy());
    socket.write(Buffer.concat([headers(1, AGENTS, unknownKey()), ...message(1)]));
  }),
  "health, again and again": session((socket) => calls(socket, CHECK, nothing, message)),
  "watches of health": session((socket) => {
    for (let stream = 1; stream < 500; stream += 2) {
      socket.write(Buffer.concat([headers(stream, WATCH, {}), ...message(stream)]));
    }
  }),
  "rapid reset (CVE-2023-44487), no key": session((socket) => calls(socket, AGENTS, nothing, reset)),
  "rapid reset, health": session((socket) => calls(socket, CHECK, nothing, reset)),
  "rapid reset, a good key": session((socket, key) => calls(socket, AGENTS, () => keyOf(key), reset)),
  "CONTINUATION without end": session((socket) => {
    socket.write(headers(1, AGENTS, {}, 0));
    pour(socket, () => frame(9, 0, 1, literal("x-a", "a".repeat(8_000))));
  }),
  "ten thousand headers": session((socket) => {
    const many = Array.from({ length: 10_000 }, (_, n) => literal(`x-${n}`, "1"));
    const block = Buffer.concat([headers(1, AGENTS, {}).subarray(9), ...many]);
    socket.write(frame(1, 0, 1, block.subarray(0, 16_000)));
    for (let at = 16_000; at < block.length; at += 16_000) {
      const end = Math.min(at + 16_000, block.length);
      socket.write(frame(9, end === block.length ? END_HEADERS : 0, 1, block.subarray(at, end)));
    }
  }),
  "half a header block": session((socket) => void socket.write(headers(1, AGENTS, {}, 0))),
  "pings without end": session((socket) => pour(socket, () => frame(6, 0, 0, Buffer.alloc(8)))),
  "settings without end": session((socket) => pour(socket, () => frame(4, 0, 0, Buffer.from([0, 3, 0, 0, 0, 100])))),
  "window updates without end": session((socket) => pour(socket, () => frame(8, 0, 0, Buffer.from([0, 0, 0, 1])))),
  "empty data without end": session((socket) => {
    socket.write(headers(1, AGENTS, {}));
    pour(socket, () => data(1, new Uint8Array()));
  }),
  "priorities without end": session((socket) => pour(socket, () => frame(2, 0, 1, Buffer.from([0, 0, 0, 0, 16])))),
  "slow body, no key": slowBody(AGENTS, nothing),
  "slow body, unknown key": slowBody(AGENTS, unknownKey),
  "slow body, health": slowBody(CHECK, nothing),
  "slow body, no such rpc": slowBody("/none.Such/Rpc", nothing),
  "slow body, a good key": slowBody(AGENTS, keyOf),
  "empty messages, no key": emptyMessages(nothing),
  "empty messages, a good key": emptyMessages(keyOf),
  "never reads, no key": neverReads(AGENTS, nothing),
  "never reads, health": neverReads(CHECK, nothing),
  "never reads, a good key": neverReads(AGENTS, keyOf),
  "never reads long answers and repeats what ends, a good key": neverReadsAndRepeats(REFLECTION, longAnswer),
  "never reads and repeats what ends, a good key": neverReadsAndRepeats(AGENTS, (stream) =>
    data(stream, EMPTY_MESSAGE, true),
  ),
  noise: session((socket, _key, every) => every(10, () => socket.write(randomBytes(256)))),
  "HTTP/1.1, a header a second": overTcp((socket, _target, every) => {
    socket.write(`POST ${AGENTS} HTTP/1.1\r\nHost: 127.0.0.1\r\n`);
    every(1_000, () => socket.write("X-A: 1\r\n"));
  }),
  "HTTP/1.1, slow body, no key": overTcp((socket, _target, every) => {
    socket.write(http1(AGENTS, 1 << 20));
    every(1_000, () => socket.write(" "));
  }),
  "HTTP/1.1, slow body, health": overTcp((socket, _target, every) => {
    socket.write(http1(CHECK, 100));
    every(1_000, () => socket.write(" "));
  }),
  "HTTP/1.1, a thousand at once, none read": overTcp((socket) => {
    socket.pause();
    socket.write(`${http1(CHECK, 2)}{}`.repeat(1_000));
  }),
  "HTTP/1.1, a Host that is none": overTcp((socket) => {
    socket.on("data", () => socket.destroy());
    socket.write(
      `POST ${CHECK} HTTP/1.1\r\nHost: :::\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    );
  }),
  "a call that ends at once, on many streams": session((socket) => {
    for (let stream = 1; stream < 2_000; stream += 2) {
      socket.write(headers(stream, AGENTS, unknownKey(), END_HEADERS | END_STREAM));
    }
  }),
};
