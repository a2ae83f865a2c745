import { expect, test } from "vitest";
import { Answers, type HttpAnswer } from "./answers.js";

const WHOLE = Buffer.from("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello");
const CHUNKED = Buffer.from(
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nc\r\n and \r\n more\r\n0\r\n\r\n",
);
const EMPTY = Buffer.from("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");

/** The answers in a text that comes in pieces of this size. */
function read(bytes: Buffer, size: number): HttpAnswer[] {
  const found: HttpAnswer[] = [];
  const answers = new Answers((answer) => found.push(answer), true);
  for (let at = 0; at < bytes.length; at += size) answers.push(bytes.subarray(at, at + size));
  return found;
}

test.each([1, 2, 3, 7, 1_000])(
  "answers end where their length or their last chunk says, in pieces of %i bytes",
  (size) => {
    for (const [bytes, status, body] of [
      [WHOLE, 200, "hello"],
      [CHUNKED, 200, "hello and \r\n more"],
      [EMPTY, 401, ""],
    ] as const) {
      const [first, ...others] = read(bytes, size);
      expect({ status: first?.status, body: first?.body.toString() }).toEqual({ status, body });
      expect(others).toEqual([]);
    }
  },
);

test("one connection has many answers", () => {
  const found: HttpAnswer[] = [];
  const answers = new Answers((answer) => found.push(answer), true);
  for (const bytes of [WHOLE, CHUNKED, EMPTY, WHOLE]) answers.push(bytes);
  expect(found.map(({ body }) => body.length)).toEqual([5, 17, 0, 5]);
});
