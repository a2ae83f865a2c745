import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  BINARY,
  binaryFrame,
  FrameReader,
  handshake,
  pongFrame,
} from "../../../../../services/shared/rpc/lane/websocket.js";

const MOST = 1 << 20;

/** A frame as a server writes it. */
function serverFrame(payload: Buffer, first = 0x82): Buffer {
  const { length } = payload;
  const head =
    length < 126
      ? Buffer.from([first, length])
      : length < 1 << 16
        ? Buffer.from([first, 126, length >> 8, length & 0xff])
        : Buffer.concat([Buffer.from([first, 127, 0, 0, 0, 0]), uint32(length)]);
  return Buffer.concat([head, payload]);
}
function uint32(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
}

function readAll(pieces: readonly Buffer[]): { readonly isGood: boolean; readonly payloads: Buffer[] } {
  const payloads: Buffer[] = [];
  const reader = new FrameReader(MOST, (opcode, payload) => {
    expect(opcode).toBe(BINARY);
    payloads.push(payload);
  });
  return { isGood: pieces.every((piece) => reader.push(piece)), payloads };
}

test("frames of a server are read, whatever pieces they come in", () => {
  const length = fc.oneof(fc.nat(140), fc.integer({ min: 65_500, max: 65_560 }), fc.nat(2_000));
  const payload = length.map((bytes) => Buffer.alloc(bytes, bytes & 0xff));
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 6 }), fc.array(fc.nat(300), { minLength: 1 }), (sent, sizes) => {
      const all = Buffer.concat(sent.map((one) => serverFrame(one)));
      const pieces: Buffer[] = [];
      for (let at = 0, i = 0; at < all.length; i++) {
        const size = (sizes[i % sizes.length] as number) + 1;
        pieces.push(Buffer.from(all.subarray(at, at + size)));
        at += size;
      }
      const { isGood, payloads } = readAll(pieces);
      expect(isGood).toBe(true);
      expect(payloads.length).toBe(sent.length);
      expect(payloads.every((one, i) => one.equals(sent[i] as Buffer))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test.each([
  ["masked", Buffer.from([0x82, 0x81, 0, 0, 0, 0, 1])],
  ["in pieces", Buffer.from([0x02, 1, 1])],
  ["of an extension", Buffer.from([0xc2, 1, 1])],
  ["a ping that is longer than one may be", Buffer.from([0x89, 126, 0, 126])],
  ["too long", Buffer.concat([Buffer.from([0x82, 127, 0, 0, 0, 0]), uint32(MOST + 1)])],
  ["of more bytes than numbers count", Buffer.from([0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255])],
])("a frame that is %s is refused", (_what, bytes) => {
  expect(readAll([bytes])).toEqual({ isGood: false, payloads: [] });
});

test("bytes of any kind are the same frames in whatever pieces they come, or none", () => {
  const first = fc.constantFrom(0x82, 0x82, 0x82, 0x89, 0x88, 0x02, 0xc2);
  const length = fc.constantFrom(
    [0],
    [3],
    [125],
    [126, 0, 126],
    [127, 0, 0, 0, 0, 0, 0, 1, 0],
    [127, 255, 0, 0, 0, 0, 0, 0, 0],
  );
  const payload = fc.uint8Array({ maxLength: 300 });
  const some = fc.tuple(first, length, payload).map(([one, two, three]) => Buffer.from([one, ...two, ...three]));
  const read = (pieces: readonly Buffer[]): unknown[] => {
    const found: unknown[] = [];
    const reader = new FrameReader(1_000, (opcode, bytes) => found.push([opcode, bytes.toString("hex")]));
    const isGood = pieces.every((piece) => reader.push(piece));
    return [...found, isGood];
  };
  fc.assert(
    fc.property(fc.array(some, { maxLength: 5 }), (all) => {
      const bytes = Buffer.concat(all);
      expect(read(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(read([bytes]));
    }),
  );
});

test("a frame of the client has its length, a mask that changes nothing, and its pieces in order", () => {
  for (const length of [0, 1, 125, 126, 65_535, 65_536]) {
    const payload = Buffer.alloc(length, 7);
    const frame = binaryFrame([payload.subarray(0, 1), payload.subarray(1)], length);
    const server = serverFrame(payload);
    const headLength = server.length - length;
    server[1] = (server[1] as number) | 0x80;
    expect(frame.subarray(0, headLength).equals(server.subarray(0, headLength))).toBe(true);
    expect([...frame.subarray(headLength, headLength + 4)]).toEqual([0, 0, 0, 0]);
    expect(frame.subarray(headLength + 4).equals(payload)).toBe(true);
  }
  expect([...pongFrame(Buffer.from("a"))]).toEqual([0x8a, 0x81, 0, 0, 0, 0, 97]);
});

test("only an answer to this very handshake is one", () => {
  const { request, isAnsweredBy } = handshake("HTTP/1.1\r\nhost: h\r\n");
  const text = request.toString();
  expect(text).toMatch(/^GET \/calls HTTP\/1.1\r\nhost: h\r\n/);
  const [, key] = /sec-websocket-key: (\S+)\r\n/.exec(text) as unknown as [string, string];
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  const answer = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}`;
  expect(isAnsweredBy(answer)).toBe(true);
  expect(isAnsweredBy(answer.replace("101", "200"))).toBe(false);
  expect(isAnsweredBy(answer.replace(accept, accept.toLowerCase()))).toBe(false);
  expect(isAnsweredBy(`${answer}x`)).toBe(false);
});
