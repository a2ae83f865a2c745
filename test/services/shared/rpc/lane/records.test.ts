import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type AnswerRecord,
  answerRecord,
  type CallRecord,
  callRecord,
  giveId,
  goneRecord,
  readAnswers,
  readCalls,
} from "../../../../../services/shared/rpc/lane/records.js";

const id = fc.nat(0xffffffff);
const body = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
const ascii = fc.string({ unit: "grapheme-ascii", maxLength: 40 });
const head = fc.record({
  path: ascii.map((name) => `/${name}`),
  assertion: ascii,
  authorization: ascii,
  traceparent: ascii,
  timeout: ascii,
});

function callsIn(frame: Buffer): CallRecord[] | undefined {
  const found: CallRecord[] = [];
  return readCalls(frame, (call) => found.push(call)) ? found : undefined;
}
function answersIn(frame: Buffer): AnswerRecord[] | undefined {
  const found: AnswerRecord[] = [];
  return readAnswers(frame, (answer) => found.push(answer)) ? found : undefined;
}

test("calls that are written together are read as what they were, and so is that a caller has gone", () => {
  const calls = fc.array(fc.record({ id, head: fc.option(head, { nil: undefined }), body }), { maxLength: 20 });
  fc.assert(
    fc.property(calls, (all) => {
      const frames = all.map((call) => {
        if (call.head === undefined) return goneRecord(call.id);
        const bytes = callRecord(call.head, call.body) as Buffer;
        giveId(bytes, call.id);
        return bytes;
      });
      const sent = all.map((call) => (call.head === undefined ? { ...call, body: Buffer.alloc(0) } : call));
      expect(callsIn(Buffer.concat(frames))).toEqual(sent);
    }),
  );
});

test("answers that are written together are read as what they were", () => {
  const answers = fc.array(fc.record({ id, status: fc.nat(999), head: ascii, body }), { maxLength: 20 });
  fc.assert(
    fc.property(answers, (all) => {
      expect(answersIn(Buffer.concat(all.map(answerRecord)))).toEqual(all);
    }),
  );
});

test("a part of a record is no frame", () => {
  const call = callRecord(
    { path: "/a", assertion: "b", authorization: "", traceparent: "", timeout: "1" },
    Buffer.from("body"),
  ) as Buffer;
  const answer = answerRecord({ id: 1, status: 200, head: "x-a: b", body: Buffer.from("body") });
  for (let end = 1; end < call.length; end++) expect(callsIn(call.subarray(0, end))).toBeUndefined();
  for (let end = 1; end < answer.length; end++) expect(answersIn(answer.subarray(0, end))).toBeUndefined();
});

test("a head that no frame can have is not written", () => {
  const long = { path: "/a", assertion: "x".repeat(1 << 16), authorization: "", traceparent: "", timeout: "" };
  expect(callRecord(long, Buffer.alloc(0))).toBeUndefined();
  const answer = answerRecord({ id: 1, status: 400, head: `x-a: ${"y".repeat(1 << 16)}`, body: Buffer.from("body") });
  expect(answersIn(answer)).toEqual([{ id: 1, status: 400, head: "", body: Buffer.from("body") }]);
});

test("bytes of any kind are records within the frame, or end it", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      // Lengths that are small are the likely ones.
      const frame = Buffer.from(bytes.map((byte, at) => (at % 3 === 0 ? byte : byte & 3)));
      for (const records of [callsIn(frame), answersIn(frame)]) {
        for (const { body } of records ?? []) expect(body.buffer).toBe(frame.buffer);
        const lengths = (records ?? []).map(({ body }) => body.length);
        expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(frame.length);
      }
    }),
  );
});
