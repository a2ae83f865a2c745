import type { CallHead } from "./served-call.js";

// What stands on the connection that many calls share (shared-socket.ts): calls one way, answers the other, any number of
// them in a frame. A record is an id, the lengths of its head and its body, and both. Numbers are little-endian.

/** What the record of a call says before its message. */
export interface CallRecordHead extends Pick<CallHead, "assertion" | "authorization" | "traceparent" | "timeout"> {
  readonly path: string;
}

/** A call, or what its caller says last: that it has gone. */
export interface CallRecord {
  /** Of the call on its connection. */
  readonly id: number;
  /** Undefined if the caller has gone. */
  readonly head: CallRecordHead | undefined;
  readonly body: Buffer;
}

/** An answer as HTTP has it: a status, lines of headers, and a body. */
export interface AnswerRecord {
  readonly id: number;
  readonly status: number;
  readonly head: string;
  readonly body: Buffer;
}

const ID = 0;
const HEAD_LENGTH = 4;
const BODY_LENGTH = 6;
const CALL = 10;
const STATUS = 10;
const ANSWER = 12;
/** The longest head, in bytes. */
const MAX_HEAD = 0xffff;
/** Stands between the parts of a call's head, in none of which it can be. */
const BETWEEN = "\n";

/**
 * A call, whose id is given when it is sent (giveId); undefined if its head is too long.
 *
 * @param head printable ASCII.
 */
export function callRecord(head: CallRecordHead, body: Uint8Array): Buffer | undefined {
  const { path, assertion, authorization, traceparent, timeout } = head;
  const text = `${path}${BETWEEN}${assertion}${BETWEEN}${authorization}${BETWEEN}${traceparent}${BETWEEN}${timeout}`;
  if (text.length > MAX_HEAD) return undefined;
  return record(CALL, text, body);
}

/** Says that the caller of a call has gone. */
export function goneRecord(id: number): Buffer {
  const bytes = record(CALL, "", NOTHING);
  giveId(bytes, id);
  return bytes;
}

/** Gives a call's record its id. */
export function giveId(call: Buffer, id: number): void {
  call.writeUInt32LE(id, ID);
}

/** An answer. Lines of headers that do not fit are left out. */
export function answerRecord({ id, status, head, body }: Omit<AnswerRecord, "body"> & { body: Uint8Array }): Buffer {
  const bytes = record(ANSWER, head.length > MAX_HEAD ? "" : head, body);
  giveId(bytes, id);
  bytes.writeUInt16LE(status, STATUS);
  return bytes;
}

function record(begins: number, head: string, body: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(begins + head.length + body.length);
  bytes.writeUInt16LE(head.length, HEAD_LENGTH);
  bytes.writeUInt32LE(body.length, BODY_LENGTH);
  if (head !== "") bytes.write(head, begins, "latin1");
  bytes.set(body, begins + head.length);
  return bytes;
}

/** Hands over the calls of a frame; their bodies are parts of it. False if it is not made of calls. */
export function readCalls(frame: Buffer, take: (call: CallRecord) => void): boolean {
  return readRecords(frame, CALL, (_at, id, head, body) => {
    if (head === "") return take({ id, head: undefined, body });
    const [path = "", assertion = "", authorization = "", traceparent = "", timeout = ""] = head.split(BETWEEN);
    take({ id, head: { path, assertion, authorization, traceparent, timeout }, body });
  });
}

/** Hands over the answers of a frame; their bodies are parts of it. False if it is not made of answers. */
export function readAnswers(frame: Buffer, take: (answer: AnswerRecord) => void): boolean {
  return readRecords(frame, ANSWER, (at, id, head, body) =>
    take({ id, status: frame.readUInt16LE(at + STATUS), head, body }),
  );
}

function readRecords(
  frame: Buffer,
  begins: number,
  take: (at: number, id: number, head: string, body: Buffer) => void,
): boolean {
  for (let at = 0; at < frame.length; ) {
    if (at + begins > frame.length) return false;
    const headAt = at + begins;
    const bodyAt = headAt + frame.readUInt16LE(at + HEAD_LENGTH);
    const end = bodyAt + frame.readUInt32LE(at + BODY_LENGTH);
    if (end > frame.length) return false;
    const head = bodyAt === headAt ? "" : frame.toString("latin1", headAt, bodyAt);
    take(at, frame.readUInt32LE(at + ID), head, frame.subarray(bodyAt, end));
    at = end;
  }
  return true;
}

const NOTHING = Buffer.alloc(0);
