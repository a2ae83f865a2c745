// The head of a span is what a trace's list of spans knows of it, in bytes that compare like the order of spans: by start;
// among those that clocks cannot tell apart the outermost first, then what ended last, as parents do.

const START = 0;
const RANK = 8;
/** 2^64 less the end. */
const LEFT = 9;
/** Which event of its export it is, from 1 on; 0 for a span. */
const NTH = 17;
const ID = 21;
/** How many bytes of its segment are the span. */
const SIZE = 29;
/** Bytes of a head. */
export const HEAD_BYTES = 33;
const ID_BYTES = 8;
/** Characters of the key of an id. */
export const KEY_LENGTH = ID_BYTES;

/** Past every time that OTLP can say. */
const LATEST = 2n ** 64n;

/** A time in nanoseconds, in two halves: numbers hold no more than 53 bits of it. */
export interface Nanos {
  readonly high: number;
  readonly low: number;
}

/** What a head is made of. */
export interface Headed {
  readonly start: Nanos;
  /** Not before the start. */
  readonly end: Nanos;
  readonly isOutermost: boolean;
  readonly nth: number;
  readonly size: number;
}

/** Writes a head into bytes, at a place; its id is taken from other bytes. */
export function writeHead(heads: Buffer, at: number, headed: Headed, from: Uint8Array, idAt: number): void {
  const { start, end, isOutermost, nth, size } = headed;
  heads.writeUInt32BE(start.high, at + START);
  heads.writeUInt32BE(start.low, at + START + 4);
  heads[at + RANK] = isOutermost ? 0 : 1;
  heads.writeUInt32BE((~end.high + (end.low === 0 ? 1 : 0)) >>> 0, at + LEFT);
  heads.writeUInt32BE(-end.low >>> 0, at + LEFT + 4);
  heads.writeUInt32BE(nth, at + NTH);
  for (let i = 0; i < ID_BYTES; i++) heads[at + ID + i] = from[idAt + i] as number;
  heads.writeUInt32BE(size, at + SIZE);
}

/** The order of a span as text. */
export function orderIn(heads: Buffer, at: number): string {
  return orderOf(
    heads.readBigUInt64BE(at + START),
    LATEST - heads.readBigUInt64BE(at + LEFT),
    heads[at + RANK] === 0,
    nthIn(heads, at),
    idIn(heads, at),
  );
}

/** The same of a span without a head. */
export function orderOf(start: bigint, end: bigint, isOutermost: boolean, nth: number, id: string): string {
  return [
    digits(start, TIME_DIGITS),
    isOutermost ? 0 : 1,
    digits(LATEST - end, TIME_DIGITS),
    digits(nth, NTH_DIGITS),
    id,
  ].join(".");
}

/** The head that has an order; undefined if none has it. */
export function headOf(order: string): Buffer | undefined {
  const [, start, rank, left, nth, id] = ORDER.exec(order) ?? [];
  if (id === undefined) return undefined;
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeBigUInt64BE(BigInt.asUintN(64, BigInt(start as string)), START);
  head[RANK] = Number(rank);
  head.writeBigUInt64BE(BigInt.asUintN(64, BigInt(left as string)), LEFT);
  head.writeUInt32BE(Number(nth), NTH);
  head.write(id, ID, "hex");
  return head;
}

const ORDER = /^(\d{20})\.([01])\.(\d{20})\.(\d{6})\.([\da-f]{16})$/;
const TIME_DIGITS = 20;
const NTH_DIGITS = 6;

function digits(number: bigint | number, count: number): string {
  return number.toString().padStart(count, "0");
}

/** The id of a span, in lower-case hexadecimal. */
export function idIn(heads: Buffer, at: number): string {
  return heads.toString("hex", at + ID, at + ID + ID_BYTES);
}

/** The same in fewer characters, to be compared. */
export function keyIn(heads: Buffer, at: number): string {
  return heads.toString("latin1", at + ID, at + ID + ID_BYTES);
}

/** The beginning of a span's id as a number, by which most others are told apart without a text. */
export function beginningIn(heads: Buffer, at: number): number {
  return heads.readUInt32BE(at + ID);
}

/** The same of a key. */
export function beginningOf(key: string): number {
  return Buffer.from(key, "latin1").readUInt32BE();
}

/** The key of a span's id. */
export function keyOfId(id: string): string {
  return Buffer.from(id, "hex").toString("latin1");
}

/** The id of a span's key. */
export function idOfKey(key: string): string {
  return Buffer.from(key, "latin1").toString("hex");
}

/** Which event of its export it is; 0 for a span. */
export function nthIn(heads: Buffer, at: number): number {
  return heads.readUInt32BE(at + NTH);
}

/** The bytes of a span. */
export function sizeIn(heads: Buffer, at: number): number {
  return heads.readUInt32BE(at + SIZE);
}

/** Less than 0 where the first is before the second. */
export function compareHeads(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): number {
  for (let i = 0; i < SIZE; i++) {
    const difference = (a[aAt + i] as number) - (b[bAt + i] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}
