import { promisify } from "node:util";
import { brotliCompress, constants, crc32, deflateRaw } from "node:zlib";
import pLimit from "p-limit";
import type { Encoding } from "../http/encodings.js";
import type { HeaderList } from "../http/exchange.js";

// A list is the same for each request but for the id at its end. It is
// compressed once, without its end, and up to a byte boundary; the id follows
// as a block that is stored as it is, which both formats have.

/** Bytes kept free behind a text for the id of a request. */
const ID_ROOM = 128;
const [brotli, deflate] = [promisify(brotliCompress), promisify(deflateRaw)];
const LEVEL = { brotli: 6, gzip: 9 };
/** The threads that compress also read files and check passwords: lists take one of them. */
const oneAtATime = pLimit(1);

/** What is sent of a text: good until the next call, so it is to be sent at once. */
export interface Prepared {
  readonly bytes: Buffer;
  readonly headers: HeaderList;
}

/**
 * A long JSON text that is sent again and again, each time with another id
 * behind it: plain, or compressed once the thread pool has compressed it. What
 * is asked for once is not compressed: somebody who makes up a URL for each
 * request costs no compression.
 */
export class PreparedText {
  private readonly plain: Spliced;
  private readonly checksum: number;
  private readonly etag: string;
  private readonly encoded = new Map<Encoding, Spliced | undefined>();
  private isAskedAgain = false;

  /** @param text everything before the id. */
  constructor(text: string) {
    const bytes = Buffer.from(text);
    this.checksum = crc32(bytes);
    // Weak: the id is not part of what it says (RFC 9110 §8.8.1).
    this.etag = `W/"${bytes.length.toString(36)}-${this.checksum.toString(36)}"`;
    this.plain = new Spliced(bytes, (end) => end, this.headersFor());
  }

  /** The text with an id and the closing brace. */
  with(id: string | number): Buffer {
    return this.plain.with(endOf(id)).bytes;
  }

  /** The same in the first of these codings that it is prepared in; plain while it is not. */
  encodedWith(id: string | number, encodings: readonly Encoding[]): Prepared {
    const end = endOf(id);
    for (const encoding of encodings) {
      const prepared = this.encoded.get(encoding);
      if (prepared !== undefined) return prepared.with(end);
      if (this.isAskedAgain && !this.encoded.has(encoding)) void this.prepare(encoding);
    }
    this.isAskedAgain = true;
    return this.plain.with(end);
  }

  private async prepare(encoding: Encoding): Promise<void> {
    this.encoded.set(encoding, undefined);
    const text = this.plain.beginning;
    const headers = this.headersFor(encoding);
    const make = () => (encoding === "br" ? brotliOf(text, headers) : gzipOf(text, this.checksum, headers));
    // What cannot be compressed is sent as it is.
    const spliced = await oneAtATime(make).catch(() => undefined);
    this.encoded.set(encoding, spliced);
  }

  private headersFor(encoding?: Encoding): HeaderList {
    // No Vary: nobody stores the answer.
    const same = ["etag", this.etag];
    return encoding === undefined ? same : [...same, "content-encoding", encoding];
  }
}

function endOf(id: string | number): Buffer {
  return Buffer.from(`${JSON.stringify(id)}}`);
}

/** Bytes that stay, and behind them what is made of the end. */
class Spliced {
  private readonly room: Buffer;
  private readonly length: number;

  constructor(
    beginning: Buffer,
    private readonly finish: (end: Buffer) => Buffer,
    private readonly headers: HeaderList,
  ) {
    this.length = beginning.length;
    this.room = Buffer.allocUnsafeSlow(this.length + ID_ROOM);
    beginning.copy(this.room);
  }

  get beginning(): Buffer {
    return this.room.subarray(0, this.length);
  }

  with(end: Buffer): Prepared {
    const finished = this.finish(end);
    const { headers } = this;
    if (finished.length > ID_ROOM) return { bytes: Buffer.concat([this.beginning, finished]), headers };
    return { bytes: this.room.subarray(0, this.length + finished.copy(this.room, this.length)), headers };
  }
}

/** RFC 1952, of one member: a deflated block, a stored one (RFC 1951 §3.2.4) for the end, and the checksum of both. */
async function gzipOf(text: Buffer, checksum: number, headers: HeaderList): Promise<Spliced> {
  const deflated = await deflate(text, { level: LEVEL.gzip, finishFlush: constants.Z_SYNC_FLUSH });
  const finish = (end: Buffer): Buffer => {
    const bytes = Buffer.allocUnsafe(5 + end.length + 8);
    bytes[0] = 1;
    bytes.writeUInt16LE(end.length, 1);
    bytes.writeUInt16LE(~end.length & 0xffff, 3);
    end.copy(bytes, 5);
    bytes.writeUInt32LE(crc32(end, checksum), 5 + end.length);
    bytes.writeUInt32LE((text.length + end.length) >>> 0, 9 + end.length);
    return bytes;
  };
  return new Spliced(Buffer.concat([GZIP_HEADER, deflated]), finish, headers);
}

/** Deflate, without a name, a time or a system. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** RFC 7932: compressed meta-blocks, an uncompressed one for the end (§9.2), and the last, empty one. */
async function brotliOf(text: Buffer, headers: HeaderList): Promise<Spliced> {
  const compressed = await brotli(text, {
    finishFlush: constants.BROTLI_OPERATION_FLUSH,
    params: {
      [constants.BROTLI_PARAM_QUALITY]: LEVEL.brotli,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    },
  });
  const finish = (end: Buffer): Buffer => {
    const bytes = Buffer.allocUnsafe(3 + end.length + 1);
    // From the lowest bit: not the last, four nibbles, the length less one, and that it is not compressed.
    bytes.writeUIntLE(((end.length - 1) << 3) | (1 << 19), 0, 3);
    end.copy(bytes, 3);
    bytes[3 + end.length] = 0b11;
    return bytes;
  };
  return new Spliced(compressed, finish, headers);
}
