import type { IncomingMessage, ServerResponse } from "node:http";
import type { Traffic } from "./edge.js";
import { EdgeExchange } from "./edge-exchange.js";
import type { Exchange, HeaderList } from "./exchange.js";
import { faultOfFraming } from "./framing.js";
import { answerBytes, decoded, encoded } from "./node-answer.js";
import type { TakePiece } from "./receiving.js";

/** What an exchange asks of its connection. */
export interface Line {
  /** Whether a request came before the answer to this one. */
  readonly isCrowded: boolean;
  /** Answers with these bytes, reads nothing more and goes in a while. */
  leave(bytes: Buffer): void;
  /** Ends with what is wrong with the body of the request that is being answered. */
  refuse(status: number, fault: string): void;
  /** Cuts the connection. */
  cut(): void;
}

const NOTHING = new ArrayBuffer(0);

/** A request of node:http, and the way to answer it. */
export class NodeExchange extends EdgeExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly address: string;
  /** It is answered when there is time: who does not wait for that has sent what follows in vain. */
  isPutOff = false;
  /** The client waits to be told before it sends the body. */
  private readonly isWaiting: boolean;
  /** The body was asked for. */
  private asked = false;
  /** Bytes of the body that were not handed over, where it was asked for and their number is known. */
  private left = 0;
  /** Bytes of an answer in pieces, where they were told beforehand, and how many of them are written. */
  private length: number | undefined;
  private written = 0;

  constructor(
    private readonly req: IncomingMessage,
    private readonly res: ServerResponse,
    private readonly line: Line,
    traffic: Traffic,
  ) {
    super(traffic);
    this.method = req.method as string;
    const url = decoded(req.url as string);
    const mark = url.indexOf("?");
    this.path = mark === -1 ? url : url.slice(0, mark);
    this.query = mark === -1 ? "" : url.slice(mark + 1);
    this.address = req.socket.remoteAddress ?? "";
    const { headers } = this;
    const { rawHeaders } = req;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = (rawHeaders[i] as string).toLowerCase();
      const value = decoded(rawHeaders[i + 1] as string);
      const before = headers[name];
      if (before === undefined) headers[name] = value;
      else this.repeat(name, before, value);
    }
    this.malformed ??= faultOfVersion(req, headers) ?? faultOfFraming(headers);
    this.isWaiting = headers.expect !== undefined;
  }

  /** It is the client's turn: more of the body is to come, and it is read. */
  get awaitsBody(): boolean {
    return !this.req.complete && !this.req.isPaused();
  }

  /** Bytes of the body that are still to come, or fewer: see Feeding. */
  get bodyLeft(): number {
    return this.left - this.req.readableLength;
  }

  /** Some of the answer is on its way. */
  get isBegun(): boolean {
    return this.res.headersSent;
  }

  /** All of the request has come. */
  get isRead(): boolean {
    return this.req.complete;
  }

  /** The client hung up, or the connection is cut. */
  override abort() {
    super.abort();
  }

  protected onPieces(take: TakePiece) {
    this.asked = true;
    if (this.isWaiting) this.res.writeContinue();
    const { req } = this;
    this.left = Number(this.headers["content-length"] ?? 0);
    req.on("data", ({ buffer, byteOffset, byteLength }: Buffer) => {
      this.left -= byteLength;
      take(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer, this.left === 0);
    });
    req.on("end", () => {
      if (this.bodyEnded) return;
      // Whoever read them as headers would have read another request.
      if (req.rawTrailers.length > 0)
        return this.line.refuse(400, "Trailers are not supported: send their fields as headers.");
      take(NOTHING, true);
    });
  }

  protected tap(isOpen: boolean): void {
    if (isOpen) this.req.resume();
    else this.req.pause();
  }

  override inTurn(run: () => void) {
    if (this.postponed && this.line.isCrowded) return this.close();
    this.isPutOff ||= this.postponed;
    super.inTurn(run);
  }

  answer(status: number, headers: HeaderList, body: string | Uint8Array = "") {
    if (this.over) return;
    if (this.postponed) return this.inTurn(() => this.answer(status, headers, body));
    const { req, res, isHead } = this;
    // Who was not told to send the body may do so, or send the next request in its place.
    const leaves = this.leavesBody || (this.isWaiting && !this.asked);
    if (leaves) this.pause();
    else this.resume();
    this.finish();
    const closes = leaves || this.traffic.closing || this.malformed !== undefined || !res.shouldKeepAlive;
    // To end a connection on which bytes wait unread takes from the client what it was told.
    if (closes && !req.complete) return this.line.leave(answerBytes(status, headers, bytesOf(body), isHead));
    const length = Buffer.byteLength(body);
    const all = encoded(headers, status === 204 ? undefined : length);
    // Text leaves in one piece with headers that are the same in UTF-8; bytes are written beside them.
    const isOnePiece = headers.every((text, i) => text === all[i]);
    if (closes) all.push("connection", "close");
    res.writeHead(status, all);
    const isText = typeof body === "string" && isOnePiece;
    // What the socket does not take at once is kept, and bytes are the caller's to change.
    res.end(isHead || length === 0 ? undefined : isText ? body : Buffer.from(body));
  }

  open(status: number, headers: HeaderList, length?: number) {
    if (this.over) return;
    const { res } = this;
    const all = encoded(headers, length);
    if (this.traffic.closing) all.push("connection", "close");
    res.writeHead(status, all);
    this.length = length;
    if (!this.isHead) return res.flushHeaders();
    this.complete();
    res.end();
  }

  write(piece: string | Uint8Array): boolean {
    if (this.over) return false;
    if (this.length === undefined) return this.res.write(piece);
    const bytes = bytesOf(piece);
    const left = this.length - this.written;
    this.written += bytes.byteLength;
    if (bytes.byteLength < left) return this.res.write(bytes);
    this.complete();
    this.res.end(bytes.subarray(0, left));
    return true;
  }

  onWritable(listener: () => void): void {
    if (!this.over) this.res.removeAllListeners("drain").on("drain", listener);
  }

  end(piece = "") {
    if (this.over) return;
    // Less than was told: the client must not take it for the whole.
    if (this.length !== undefined && this.length > 0) return this.close();
    this.complete();
    this.res.end(piece === "" ? undefined : piece);
  }

  close(): void {
    if (!this.over) this.line.cut();
  }

  private get isHead(): boolean {
    return this.method === "HEAD";
  }
}

function bytesOf(body: string | Uint8Array): Uint8Array {
  return typeof body === "string" ? Buffer.from(body) : body;
}

/** What is wrong with a request that is of another version of HTTP, as a sentence. */
function faultOfVersion({ httpVersion }: IncomingMessage, headers: Exchange["headers"]): string | undefined {
  if (httpVersion !== "1.1") return "The service supports only HTTP/1.1.";
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== "100-continue")
    return "The only Expect that is supported is '100-continue'.";
  return headers.host === undefined ? "The Host header is missing." : undefined;
}
