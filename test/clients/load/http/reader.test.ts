import fc from "fast-check";
import { expect, test } from "vitest";
import { NotHttp } from "../../../../clients/load/http/head.js";
import { type Answer, MAX_BYTES, Reader, TooLarge } from "../../../../clients/load/http/reader.js";

const OK = "HTTP/1.1 200 OK\r\n";

/** Reads pieces. Each is overwritten when it was read, as the memory of a socket is. */
function readAll(reader: Reader, pieces: readonly (string | Buffer)[]): (Answer | undefined)[] {
  return pieces.map((piece) => {
    const bytes = Buffer.from(piece as string, "latin1");
    const answer = reader.read(bytes);
    bytes.fill("#");
    return answer;
  });
}

function bodyOf(text: string): string | undefined {
  return readAll(new Reader(), [text])[0]?.body.toString("latin1");
}

test("a body ends by its length, by its last chunk, or with the connection", () => {
  expect(bodyOf(`${OK}Content-Length: 5\r\n\r\nhello`)).toBe("hello");
  expect(bodyOf(`${OK}content-length: 0\r\n\r\n`)).toBe("");
  expect(bodyOf(`${OK}content-length: 5, 5\r\n\r\nhello`)).toBe("hello");
  expect(bodyOf(`${OK}Transfer-Encoding: Chunked\r\n\r\n3\r\nhel\r\n2 ;a="b"\r\nlo\r\n0\r\n\r\n`)).toBe("hello");
  expect(bodyOf(`${OK}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nDigest: x\r\n\r\n`)).toBe("hello");
  expect(bodyOf("HTTP/1.1 204 No Content\r\n\r\n")).toBe("");
  expect(bodyOf("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")).toBe("");

  const reader = new Reader();
  expect(readAll(reader, [OK, "\r\nhel", "lo"])).toEqual([undefined, undefined, undefined]);
  expect(reader.end()?.body.toString()).toBe("hello");
});

test("an answer that was cut is not taken for one", () => {
  for (const cut of [
    "HTTP/1.1 2",
    `${OK}content-length: 5\r\n\r\nhel`,
    `${OK}transfer-encoding: chunked\r\n\r\n1\r\na`,
  ]) {
    const reader = new Reader();
    expect(readAll(reader, [cut])).toEqual([undefined]);
    expect(reader.end()).toBeUndefined();
  }
});

test("headers are read", () => {
  const [answer] = readAll(new Reader(), [
    `${OK}X-A:1\r\nx-b:\t two words \r\nX-Empty:\r\nX-A: 2\r\nconstructor: c\r\ncontent-length: 0\r\n\r\n`,
  ]);
  expect(answer?.status).toBe(200);
  expect(answer?.headers).toEqual({
    "x-a": "1, 2",
    "x-b": "two words",
    "x-empty": "",
    constructor: "c",
    "content-length": "0",
  });
});

test.each([
  ["HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n", true],
  ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\nConnection: Close\r\n\r\n", false],
  ["HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", false],
  ["HTTP/1.0 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive\r\n\r\n", true],
])("%j keeps its connection: %s", (text, isKept) => {
  const reader = new Reader();
  expect(readAll(reader, [text])[0]).toMatchObject({ status: 200 });
  expect(reader.isKept).toBe(isKept);
});

const chunked = "transfer-encoding: chunked\r\n\r\n";

test.each([
  "SSH-2.0-OpenSSH_9.2\r\n\r\n",
  "HTTP/2 200\r\n\r\n",
  "HTTP/1.1 2000 OK\r\n\r\n",
  "HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n",
  `${OK}no header\r\n\r\n`,
  `${OK}: no name\r\n\r\n`,
  `${OK}a b: c\r\n\r\n`,
  `${OK}a: b\r\n folded: c\r\n\r\n`,
  `${OK}a: b\nc: d\r\n\r\n`,
  `${OK}a: b\rc\r\n\r\n`,
  `${OK}a: \0\r\n\r\n`,
  `${OK}content-length: -1\r\n\r\n`,
  `${OK}content-length: 1e3\r\n\r\n`,
  `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\na`,
  `${OK}content-length: 1\r\n${chunked}1\r\na\r\n0\r\n\r\n`,
  `${OK}transfer-encoding: gzip, chunked\r\n\r\n`,
  `${OK}${chunked}xyz\r\n`,
  `${OK}${chunked}-1\r\n`,
  `${OK}${chunked}123456789\r\n`,
  `${OK}${chunked}1\r\nab\r\n`,
  `${OK}content-length: 1\r\n\r\nabc`,
  `${OK}content-length: 0\r\n\r\n${OK}content-length: 0\r\n\r\n`,
])("%j is no answer", (text) => {
  expect(() => new Reader().read(Buffer.from(text, "latin1"))).toThrow(NotHttp);
});

test("heads, trailers and bodies are bounded", () => {
  const filler = "x".repeat(17 * 1_024);
  for (const text of [
    `${OK}a: ${filler}`,
    `${OK}a: ${filler}\r\n\r\n`,
    `HTTP/1.1 103 Early Hints\r\na: ${filler.slice(0, 9_000)}\r\n\r\n`.repeat(2),
    `${OK}${chunked}1;${filler}`,
    `${OK}${chunked}0\r\n${"a: b\r\n".repeat(5_000)}`,
    `${OK}content-length: ${MAX_BYTES + 1}\r\n\r\n`,
  ]) {
    expect(() => new Reader().read(Buffer.from(text, "latin1")), text.slice(0, 60)).toThrow(TooLarge);
  }
  const reader = new Reader();
  const part = Buffer.alloc(MAX_BYTES / 4);
  reader.read(Buffer.from(`${OK}\r\n`));
  for (let i = 0; i < 4; i++) reader.read(part);
  expect(() => reader.read(Buffer.from("x"))).toThrow(TooLarge);
});

test("a head that comes byte by byte is bounded too", () => {
  const reader = new Reader();
  const drip = (): void => {
    for (let i = 0; i < 17 * 1_024; i++) reader.read(Buffer.from("x"));
  };
  expect(drip).toThrow(TooLarge);
});

test("answers of one connection share their memory, but for large ones", () => {
  const reader = new Reader();
  const next = (length: number): Buffer => {
    const [answer] = readAll(reader, [`${OK}content-length: ${length}\r\n\r\n${"x".repeat(length)}`]);
    return answer?.body as Buffer;
  };
  const first = next(2_000);
  expect(next(1_000).buffer).toBe(first.buffer);
  const large = next(2 * 1_024 * 1_024);
  expect(next(1_000).buffer).not.toBe(large.buffer);
});

/** An answer as it is sent, and what it says. */
const answers = fc
  .record({
    status: fc.constantFrom(200, 202, 400, 404, 500),
    before: fc.constantFrom("", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"),
    value: fc.string({ unit: fc.constantFrom("a", " ", "\t", "é", ":", ",") }),
    pieces: fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 5 }),
    isChunked: fc.boolean(),
    extension: fc.constantFrom("", ";a", ' ; b="c"'),
    trailers: fc.constantFrom("", "digest: x\r\n", "a: b\r\nc: d\r\n"),
  })
  .map(({ status, before, value, pieces, isChunked, extension, trailers }) => {
    const body = Buffer.concat(pieces);
    const chunks = pieces.map((one) => `${one.length.toString(16)}${extension}\r\n${latin1(one)}\r\n`);
    const framed = isChunked
      ? `transfer-encoding: chunked\r\n\r\n${chunks.join("")}0\r\n${trailers}\r\n`
      : `content-length: ${body.length}\r\n\r\n${latin1(body)}`;
    const sent = Buffer.from(`${before}HTTP/1.1 ${status} Some reason\r\nX-Value: ${value}\r\n${framed}`, "latin1");
    return { sent, status, value: value.trim(), body };
  });
const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");

test("answers are the same however they are cut, one after another", () => {
  fc.assert(
    fc.property(fc.array(answers, { minLength: 1, maxLength: 3 }), fc.infiniteStream(fc.nat(40)), (all, lengths) => {
      const reader = new Reader();
      for (const { sent, status, value, body } of all) {
        const pieces: Buffer[] = [];
        for (let at = 0; at < sent.length; ) {
          const length = 1 + (lengths.next().value as number);
          pieces.push(sent.subarray(at, at + length));
          at += length;
        }
        const read = readAll(reader, pieces);
        const answer = read.pop();
        expect(read.every((one) => one === undefined)).toBe(true);
        expect(answer?.status).toBe(status);
        expect(answer?.headers["x-value"]).toBe(value);
        expect(answer?.body.equals(body)).toBe(true);
        expect(reader.isKept).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});

test("bytes that are no answer are refused, or wait for more: nothing else happens", () => {
  const noise = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.tuple(answers, fc.nat(400), fc.nat(255)).map(([{ sent }, at, byte]) => {
      const changed = Buffer.from(sent);
      changed[at % changed.length] = byte;
      return changed;
    }),
  );
  fc.assert(
    fc.property(noise, (bytes) => {
      try {
        new Reader().read(bytes);
      } catch (error) {
        expect(error instanceof NotHttp || error instanceof TooLarge).toBe(true);
      }
    }),
    { numRuns: 1_000 },
  );
});
