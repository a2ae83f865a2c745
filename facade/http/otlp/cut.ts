import { WireType } from "@bufbuild/protobuf/wire";
import { MAX_EXPORT_BYTES } from "../../../services/shared/rpc/bounds.js";
import { invalidArgument, resourceExhausted } from "../../../services/shared/rpc/errors.js";

// An export that is longer than one may be is read to its end all the same:
// who cuts the connection off, or says 413, has its exporter send everything
// again or throw everything away. The spans that fit are kept, and those that
// do not are counted for partial_success (OTLP specification, "Partial Success").

/** How much of an export is read, in bytes; the longest batches of SDKs, 512 spans of 100 KB, are 50 MB. */
export const MAX_READ_BYTES = 4 * MAX_EXPORT_BYTES;

/** How an export is written. */
export type Encoding = "protobuf" | "json";

/** What was read of an export. */
export interface Cut {
  /** A whole message. */
  readonly bytes: Uint8Array;
  /** Spans that are not in it. */
  readonly left: number;
}

/** How many bytes are kept, and how many are read. */
export interface CutLimits {
  readonly kept: number;
  readonly read: number;
}

/**
 * Reads an export and keeps as many of its spans as fit.
 *
 * @param count is told of the bytes of each piece, and whether they are kept; it throws where there is no room for them.
 * @throws ConnectError resource_exhausted for more than is read, invalid_argument where a long one is no export.
 */
export async function cutExport(
  pieces: AsyncIterable<Uint8Array>,
  encoding: Encoding,
  count: (bytes: number, isKept: boolean) => void,
  { kept, read }: CutLimits = { kept: MAX_EXPORT_BYTES, read: MAX_READ_BYTES },
): Promise<Cut> {
  const front: Uint8Array[] = [];
  let size = 0;
  let walk: Walk | undefined;
  for await (const piece of pieces) {
    size += piece.byteLength;
    if (size > read) throw resourceExhausted(`the export is longer than ${read} bytes: send fewer spans at once`);
    count(piece.byteLength, walk === undefined);
    if (walk !== undefined) {
      walk.push(piece);
      continue;
    }
    front.push(piece);
    if (size > kept) {
      walk = encoding === "json" ? new JsonWalk(kept) : new WireWalk(kept);
      for (const one of front) walk.push(one);
    }
  }
  const begun = Buffer.concat(front);
  const { buffer, byteOffset, byteLength } = walk === undefined ? begun : walk.cut(begun);
  // What is read of a Buffer would be Buffers.
  return { bytes: new Uint8Array(buffer, byteOffset, byteLength), left: walk?.left ?? 0 };
}

/** Passes over the spans of an export that comes in pieces. */
interface Walk {
  /** Spans that have begun and do not end where they are kept. */
  readonly left: number;
  push(piece: Uint8Array): void;
  /** The message without the spans that are left out, from the bytes that it begins with. */
  cut(front: Buffer): Uint8Array;
}

/** A message that is being passed over: where its length stands and what follows begins and ends. */
interface Open {
  readonly lengthAt: number;
  readonly from: number;
  readonly end: number;
}

/** The fields that lead to spans: resource_spans, scope_spans, spans. */
const WAY = [1, 2, 2];
/** The longest varint (protobuf encoding, "Base 128 Varints"), and the longest that is a tag or a length. */
const MAX_VARINT_BYTES = 10;
const MAX_LENGTH_BITS = 32;

/** Protobuf: tags and lengths, whatever piece they are in. */
class WireWalk implements Walk {
  #spans = 0;
  #kept = 0;
  /** Where what is kept ends, and what is open there. */
  #end = 0;
  #opened: readonly Open[] = [];
  readonly #open: Open[] = [];
  #at = 0;
  /** Bytes to pass over. */
  #skip = 0;
  #expects: "tag" | "length" | "varint" = "tag";
  #tag = 0;
  #varintAt = 0;
  #varint = 0;

  constructor(private readonly limit: number) {}

  get left(): number {
    return this.#spans - this.#kept;
  }

  push(piece: Uint8Array): void {
    for (let i = 0; i < piece.length; ) {
      if (this.#skip > 0) {
        const passed = Math.min(this.#skip, piece.length - i);
        this.#skip -= passed;
        this.#at += passed;
        i += passed;
        continue;
      }
      this.#byte(piece[i++] as number);
    }
  }

  #byte(byte: number): void {
    if (this.#expects === "tag" && this.#varintAt === this.#at) this.#close();
    const shift = 7 * (this.#at - this.#varintAt);
    if (shift < MAX_LENGTH_BITS) this.#varint += (byte & 0x7f) * 2 ** shift;
    this.#at++;
    if (byte >= 0x80) {
      if (this.#at - this.#varintAt >= MAX_VARINT_BYTES) throw noExport();
      return;
    }
    const value = this.#varint;
    if (this.#expects === "tag") this.#begin(value);
    else {
      if (this.#expects === "length") this.#enter(value);
      this.#expects = "tag";
    }
    this.#next();
  }

  /** A varint begins after what is passed over. */
  #next(): void {
    this.#varint = 0;
    this.#varintAt = this.#at + this.#skip;
  }

  #close(): void {
    while ((this.#open.at(-1)?.end ?? Number.POSITIVE_INFINITY) <= this.#at) this.#open.pop();
  }

  #begin(tag: number): void {
    this.#tag = tag;
    const wire = tag % 8;
    if (wire === WireType.Varint) this.#expects = "varint";
    else if (wire === WireType.LengthDelimited) this.#expects = "length";
    else if (wire === WireType.Bit64) this.#skip = 8;
    else if (wire === WireType.Bit32) this.#skip = 4;
    else throw noExport();
  }

  #enter(length: number): void {
    const depth = this.#open.length;
    const end = this.#at + length;
    if (end > (this.#open.at(-1)?.end ?? Number.POSITIVE_INFINITY)) throw noExport();
    const isOnWay = depth < WAY.length && Math.floor(this.#tag / 8) === WAY[depth];
    if (isOnWay && depth < WAY.length - 1) {
      this.#open.push({ lengthAt: this.#varintAt, from: this.#at, end });
      return;
    }
    this.#skip = length;
    if (!isOnWay) return;
    const isKept = this.#kept === this.#spans++ && end <= this.limit;
    if (!isKept) return;
    this.#kept++;
    this.#end = end;
    this.#opened = [...this.#open];
  }

  cut(front: Buffer): Uint8Array {
    const bytes = Buffer.from(front.subarray(0, this.#end));
    // A shorter length in as many bytes as the longer one: leading zeros are allowed.
    for (const { lengthAt, from, end } of this.#opened) {
      let length = Math.min(end, this.#end) - from;
      for (let at = lengthAt; at < from; at++) {
        bytes[at] = (length % 0x80) | (at < from - 1 ? 0x80 : 0);
        length = Math.floor(length / 0x80);
      }
    }
    return bytes;
  }
}

const [QUOTE, BACKSLASH, OBJECT, OBJECT_END, LIST, LIST_END] = [...'"\\{}[]'].map((one) => one.charCodeAt(0));
/** What is open where a span begins: {"resourceSpans":[{"scopeSpans":[{"spans":[{ */
const TO_SPAN = "{[{[{[{";
/** Closes what is open after one. */
const AFTER_SPAN = "]}]}]}";

/** JSON: brackets, and texts that brackets may be in. */
class JsonWalk implements Walk {
  #spans = 0;
  #kept = 0;
  #end = 0;
  #at = 0;
  #depth = 0;
  /** The first brackets that are open, as many as lead to a span. */
  #open = "";
  #inText = false;
  #isEscaped = false;

  constructor(private readonly limit: number) {}

  get left(): number {
    return this.#spans - this.#kept;
  }

  push(piece: Uint8Array): void {
    for (let i = 0; i < piece.length; i++) this.#byte(piece[i] as number, this.#at + i);
    this.#at += piece.length;
  }

  #byte(byte: number, at: number): void {
    if (this.#inText) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#inText = false;
    } else if (byte === QUOTE) this.#inText = true;
    else if (byte === OBJECT || byte === LIST) {
      this.#depth++;
      if (this.#depth <= TO_SPAN.length) this.#open += byte === OBJECT ? "{" : "[";
      if (this.#depth === TO_SPAN.length && this.#open === TO_SPAN) this.#spans++;
    } else if (byte === OBJECT_END || byte === LIST_END) {
      const isSpan = this.#depth === TO_SPAN.length && this.#open === TO_SPAN;
      if (isSpan && this.#kept === this.#spans - 1 && at + 1 + AFTER_SPAN.length <= this.limit) {
        this.#kept++;
        this.#end = at + 1;
      }
      this.#depth--;
      if (this.#depth < TO_SPAN.length) this.#open = this.#open.slice(0, Math.max(0, this.#depth));
    }
  }

  cut(front: Buffer): Uint8Array {
    if (this.#kept === 0) return Buffer.from("{}");
    return Buffer.concat([front.subarray(0, this.#end), Buffer.from(AFTER_SPAN)]);
  }
}

function noExport(): Error {
  return invalidArgument("the body is not an export of spans");
}
