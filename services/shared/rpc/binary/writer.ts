import { FLOAT32_MAX, type WireType } from "@bufbuild/protobuf/wire";

/** Memory that messages are written into, in bytes. A longer message has memory of its own. */
const KEPT = 64 * 1024;
/** A varint of 32 bits, and one of 64. */
const VARINT_32 = 5;
const VARINT_64 = 10;
/** A text of fewer characters has a length of one byte, whatever they are. */
const SHORT_TEXT = 43;

/**
 * Writes the values of messages one behind the other into memory that is used again (protobuf encoding). The library's
 * writer makes an array for each of them.
 */
export class Writer {
  #bytes = Buffer.allocUnsafeSlow(KEPT);
  #at = 0;

  /** Begins a message, also if the one before could not be written to its end. */
  begin(): void {
    this.#at = 0;
  }

  /** The bytes of the message, which are the caller's. */
  end(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#at);
    if (this.#bytes.length === KEPT) return Buffer.from(bytes);
    this.#bytes = Buffer.allocUnsafeSlow(KEPT);
    return bytes;
  }

  tag(number: number, wire: WireType): void {
    this.uint32(((number << 3) | wire) >>> 0);
  }

  /** Begins a part whose length stands in front of it; returns where, for {@link join}. */
  fork(): number {
    this.#need(1);
    return this.#at++;
  }

  /** Ends a part: a length of more than a byte moves it. */
  join(start: number): void {
    const end = this.#at;
    const length = end - start - 1;
    if (length < 0x80) {
      this.#bytes[start] = length;
      return;
    }
    let more = 0;
    for (let rest = length >>> 7; rest > 0; rest >>>= 7) more++;
    this.#need(more);
    this.#bytes.copyWithin(start + 1 + more, start + 1, end);
    this.#at = start;
    this.uint32(length);
    this.#at = end + more;
  }

  raw(bytes: Uint8Array): void {
    this.#need(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  uint32(value: number): void {
    checkUint32(value);
    this.#need(VARINT_32);
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) this.#bytes[this.#at++] = (rest & 0x7f) | 0x80;
    this.#bytes[this.#at++] = rest;
  }

  int32(value: number): void {
    checkInt32(value);
    if (value >= 0) this.uint32(value);
    else this.int64(BigInt(value));
  }

  int64(value: bigint): void {
    checkInt64(value);
    this.#varint64(value);
  }

  uint64(value: bigint): void {
    if (BigInt.asUintN(64, value) !== value) throw new Error(`invalid uint64: ${value}`);
    this.#varint64(value);
  }

  bool(value: boolean): void {
    this.#need(1);
    this.#bytes[this.#at++] = value ? 1 : 0;
  }

  sint32(value: number): void {
    checkInt32(value);
    this.uint32(((value << 1) ^ (value >> 31)) >>> 0);
  }

  sint64(value: bigint): void {
    checkInt64(value);
    this.#varint64(BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
  }

  fixed32(value: number): void {
    checkUint32(value);
    this.#need(4);
    this.#at = this.#bytes.writeUInt32LE(value, this.#at);
  }

  sfixed32(value: number): void {
    checkInt32(value);
    this.#need(4);
    this.#at = this.#bytes.writeInt32LE(value, this.#at);
  }

  fixed64(value: bigint): void {
    this.#need(8);
    this.#at = this.#bytes.writeBigUInt64LE(value, this.#at);
  }

  sfixed64(value: bigint): void {
    this.#need(8);
    this.#at = this.#bytes.writeBigInt64LE(value, this.#at);
  }

  float(value: number): void {
    if (Number.isFinite(value) && Math.abs(value) > FLOAT32_MAX) throw new Error(`invalid float: ${value}`);
    this.#need(4);
    this.#at = this.#bytes.writeFloatLE(value, this.#at);
  }

  double(value: number): void {
    this.#need(8);
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  bytes(value: Uint8Array): void {
    this.uint32(value.length);
    this.raw(value);
  }

  string(value: string): void {
    if (typeof value !== "string") throw new TypeError(`invalid string: ${typeof value}`);
    if (value.length < SHORT_TEXT) {
      this.#need(1 + value.length * 3);
      const length = this.#ascii(value) ?? this.#bytes.write(value, this.#at + 1);
      this.#bytes[this.#at] = length;
      this.#at += 1 + length;
      return;
    }
    const length = Buffer.byteLength(value);
    this.uint32(length);
    this.#need(length);
    this.#at += this.#bytes.write(value, this.#at);
  }

  /** Writes a short text behind the byte of its length, which costs more by the buffer; undefined if it is not ASCII. */
  #ascii(value: string): number | undefined {
    const [bytes, start] = [this.#bytes, this.#at + 1];
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) return undefined;
      bytes[start + i] = code;
    }
    return value.length;
  }

  #varint64(value: bigint): void {
    this.#need(VARINT_64);
    if (value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER)) {
      let rest = Number(value);
      for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) this.#bytes[this.#at++] = (rest % 0x80) | 0x80;
      this.#bytes[this.#at++] = rest;
      return;
    }
    let rest = BigInt.asUintN(64, value);
    for (; rest > 0x7fn; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[this.#at++] = Number(rest);
  }

  #need(length: number): void {
    const end = this.#at + length;
    if (end <= this.#bytes.length) return;
    const longer = Buffer.allocUnsafeSlow(Math.max(end, this.#bytes.length * 2));
    longer.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = longer;
  }
}

function checkUint32(value: number): void {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff) throw new Error(`invalid uint32: ${value}`);
}

function checkInt32(value: number): void {
  if (!Number.isInteger(value) || value < -0x8000_0000 || value > 0x7fff_ffff)
    throw new Error(`invalid int32: ${value}`);
}

function checkInt64(value: bigint): void {
  if (BigInt.asIntN(64, value) !== value) throw new Error(`invalid int64: ${value}`);
}
