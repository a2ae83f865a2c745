import { Body } from "./body.js";
import { type Head, headOf, NotHttp } from "./head.js";

/** A whole answer. */
export interface Answer {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Valid until the next request on its connection. */
  readonly body: Buffer;
}

/** An answer that is larger than is read; the message says how large that is. */
export class TooLarge extends Error {}

/** The largest body that is read, in bytes. */
export const MAX_BYTES = 32 * 1_024 * 1_024;
/** The largest head and the largest trailers, in bytes, as Node bounds them. */
const MAX_HEAD_BYTES = 16 * 1_024;
const NOTHING = Buffer.alloc(0);
const LINE = "\r\n";
const EMPTY_LINE = "\r\n\r\n";
/** The size of a chunk, and extensions, which say nothing here. */
const CHUNK = /^([0-9a-f]{1,8})[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/i;

/** What is read next. */
type Part = "head" | "sized body" | "body until closed" | "chunk size" | "chunk" | "end of chunk" | "trailers";

/**
 * Reads the answers of one connection, one for each request. It is strict: what two readers could understand in two
 * ways is an error. After an error the connection is of no use.
 */
export class Reader {
  /** Whether the connection stays open after the answer that was read last. */
  isKept = true;
  private part: Part = "head";
  /** What came and is not read; between calls, the beginning of a line or a head. */
  private bytes: Buffer = NOTHING;
  private at = 0;
  private head: Head | undefined;
  /** Bytes of heads and trailers of this answer. */
  private headBytes = 0;
  /** Bytes of this body or of this chunk that did not come yet. */
  private missing = 0;
  private readonly body = new Body();

  /**
   * Reads what came.
   *
   * @param came its memory may be used again after the call.
   * @returns the answer that ends with it, if one does.
   * @throws NotHttp, TooLarge
   */
  read(came: Buffer): Answer | undefined {
    this.bytes = this.bytes.length === 0 ? came : Buffer.concat([this.bytes, came]);
    this.at = 0;
    let answer: Answer | undefined;
    while (answer === undefined && this.at < this.bytes.length && this.readPart()) answer = this.whole();
    const rest = this.bytes.length - this.at;
    if (answer !== undefined && rest > 0) throw new NotHttp("the server sent more than the answer");
    this.bytes = rest === 0 ? NOTHING : Buffer.from(this.bytes.subarray(this.at));
    return answer;
  }

  /** The connection ended. @returns the answer that ends with it, if one does. */
  end(): Answer | undefined {
    return this.part === "body until closed" ? this.take() : undefined;
  }

  /** @returns false if the part did not come to its end, and must be read again with more bytes. */
  private readPart(): boolean {
    switch (this.part) {
      case "head":
        return this.readHead();
      case "chunk size":
        return this.readChunkSize();
      case "end of chunk":
        return this.readEndOfChunk();
      case "trailers":
        return this.readTrailer();
      default:
        this.readBody();
        return true;
    }
  }

  private readHead(): boolean {
    const text = this.textUntil(EMPTY_LINE, this.headBytes);
    if (text === undefined) return false;
    this.headBytes += text.length;
    const head = headOf(text);
    if (head.status === 101) throw new NotHttp("the server changes the protocol");
    // Others of 100 to 199 say that the answer is yet to come.
    if (head.status < 200) return true;
    this.head = head;
    this.body.begin();
    if (typeof head.body === "number") {
      this.part = "sized body";
      this.missing = head.body;
      if (head.body > MAX_BYTES) throw tooLarge();
    } else this.part = head.body === "chunked" ? "chunk size" : "body until closed";
    return true;
  }

  private readBody(): void {
    const there = this.bytes.length - this.at;
    const length = this.part === "body until closed" ? there : Math.min(there, this.missing);
    if (this.body.size + length > MAX_BYTES) throw tooLarge();
    this.body.add(this.bytes, this.at, this.at + length);
    this.at += length;
    this.missing -= length;
    if (this.part === "chunk" && this.missing === 0) this.part = "end of chunk";
  }

  private readChunkSize(): boolean {
    const text = this.textUntil(LINE, 0);
    if (text === undefined) return false;
    const [, size] = CHUNK.exec(text) ?? [];
    if (size === undefined) throw new NotHttp("the answer has a chunk without a size");
    this.missing = Number.parseInt(size, 16);
    this.part = this.missing === 0 ? "trailers" : "chunk";
    return true;
  }

  private readEndOfChunk(): boolean {
    if (this.bytes.length - this.at < LINE.length) return false;
    if (this.textUntil(LINE, 0) !== "") throw new NotHttp("a chunk of the answer is longer than its size");
    this.part = "chunk size";
    return true;
  }

  private readTrailer(): boolean {
    const text = this.textUntil(LINE, this.headBytes);
    if (text === undefined) return false;
    this.headBytes += text.length;
    if (text === "") this.part = "sized body";
    return true;
  }

  /** The text before an end, which is read with it; undefined if the end did not come. */
  private textUntil(end: string, before: number): string | undefined {
    const { bytes, at } = this;
    const found = bytes.indexOf(end, at, "latin1");
    if (before + (found === -1 ? bytes.length : found) - at > MAX_HEAD_BYTES) {
      throw new TooLarge(`the answer's head exceeds ${MAX_HEAD_BYTES} bytes`);
    }
    if (found === -1) return undefined;
    this.at = found + end.length;
    return bytes.toString("latin1", at, found);
  }

  /** The answer, if all of it was read. */
  private whole(): Answer | undefined {
    return this.part === "sized body" && this.missing === 0 ? this.take() : undefined;
  }

  private take(): Answer {
    const { status, headers, isKept } = this.head as Head;
    this.part = "head";
    this.headBytes = 0;
    this.isKept = isKept;
    return { status, headers, body: this.body.all };
  }
}

const tooLarge = (): TooLarge => new TooLarge(`the answer exceeds ${MAX_BYTES} bytes`);
