/** An answer as it came. */
export interface HttpAnswer {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const END_OF_HEAD = "\r\n\r\n";
const NOTHING = Buffer.alloc(0);

/**
 * Finds the ends of answers on one connection, by their Content-Length or their chunks, and does little else: what it
 * costs, the machine has less for the server.
 *
 * @param done is called at the end of each answer.
 * @param keeps whether bodies are kept; if not, they are empty.
 */
export class Answers {
  private head: Buffer = NOTHING;
  private status = 0;
  private headers: Readonly<Record<string, string>> = {};
  private body: Buffer[] = [];
  /** Bytes of the body, or of the chunk with its end, that have not come; undefined between answers. */
  private missing: number | undefined;
  private isChunked = false;
  /** The beginning of a chunk's size. */
  private line: Buffer = NOTHING;

  constructor(
    private readonly done: (answer: HttpAnswer) => void,
    private readonly keeps = false,
  ) {}

  push(bytes: Buffer): void {
    let rest: Buffer | undefined = bytes;
    if (this.missing === undefined) rest = this.readHead(bytes);
    if (rest === undefined) return;
    if (this.isChunked) this.readChunks(rest);
    else this.readBody(rest);
  }

  /** @returns what follows the head; undefined if it has not ended. */
  private readHead(bytes: Buffer): Buffer | undefined {
    const all = this.head.length === 0 ? bytes : Buffer.concat([this.head, bytes]);
    const end = all.indexOf(END_OF_HEAD);
    if (end === -1) {
      this.head = all;
      return undefined;
    }
    this.head = NOTHING;
    const text = all.toString("latin1", 0, end);
    this.status = Number(text.slice(9, 12));
    if (this.keeps) this.headers = headersIn(text);
    this.isChunked = /\r\ntransfer-encoding: *chunked/i.test(text);
    this.missing = this.isChunked ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0);
    this.line = NOTHING;
    this.body = [];
    return all.subarray(end + END_OF_HEAD.length);
  }

  private readBody(bytes: Buffer): void {
    this.missing = (this.missing ?? 0) - bytes.length;
    if (this.keeps) this.body.push(bytes);
    if (this.missing <= 0) this.end();
  }

  private readChunks(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0) {
      const missing = this.missing ?? 0;
      if (missing > 0) {
        // The last two bytes are the end of its line.
        if (this.keeps) this.body.push(rest.subarray(0, Math.max(0, Math.min(rest.length, missing - 2))));
        this.missing = Math.max(0, missing - rest.length);
        rest = rest.subarray(missing);
        continue;
      }
      const all: Buffer = this.line.length === 0 ? rest : Buffer.concat([this.line, rest]);
      const end = all.indexOf("\r\n");
      if (end === -1) {
        this.line = all;
        return;
      }
      const size = Number.parseInt(all.toString("latin1", 0, end), 16);
      if (size === 0) {
        // Nobody here sends trailers: what is left is the empty line.
        if (all.length < end + 4) {
          this.line = all;
          return;
        }
        this.end();
        return;
      }
      this.line = NOTHING;
      this.missing = size + 2;
      rest = all.subarray(end + 2);
    }
  }

  private end(): void {
    const { status, headers, body } = this;
    this.missing = undefined;
    this.body = [];
    this.done({ status, headers, body: body.length === 0 ? NOTHING : Buffer.concat(body) });
  }
}

function headersIn(head: string): Record<string, string> {
  const lines = head.split("\r\n").slice(1);
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
}
