import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import type { Traffic } from "./edge.js";
import { EdgeExchange } from "./edge-exchange.js";
import { type Exchange, type HeaderList, statusLine } from "./exchange.js";
import { faultOfFraming } from "./framing.js";
import type { TakePiece } from "./receiving.js";

/** A request of µWebSockets.js, and the way to answer it. */
export class UwsExchange extends EdgeExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Asked of the system once: it costs as much as a refusal. */
  private from: string | undefined;
  /** Bytes of an answer in pieces, where they were told beforehand. */
  private length: number | undefined;
  /** What the socket did not take of the last piece, and where in the answer it begins. */
  private rest: { readonly bytes: Uint8Array; readonly at: number } | undefined;

  // `req` is gone once the constructor's caller returns: all of it is taken here.
  constructor(
    private readonly res: HttpResponse,
    req: HttpRequest,
    traffic: Traffic,
  ) {
    super(traffic);
    this.method = req.getCaseSensitiveMethod();
    this.path = req.getUrl();
    // Undefined where there is none, whatever its type says.
    this.query = req.getQuery() ?? "";
    const { headers } = this;
    req.forEach((name, value) => {
      const before = headers[name];
      if (before === undefined) headers[name] = value;
      else this.repeat(name, before, value);
    });
    this.malformed ??= faultOfFraming(headers);
    res.onAborted(() => this.abort());
  }

  get address(): string {
    if (this.over) return "";
    this.from ??= Buffer.from(this.res.getRemoteAddressAsText()).toString();
    return this.from;
  }

  protected onPieces(take: TakePiece): void {
    this.res.onData(take);
  }

  protected tap(isOpen: boolean): void {
    if (isOpen) this.res.resume();
    else this.res.pause();
  }

  answer(status: number, headers: HeaderList, body: string | Uint8Array = "") {
    if (this.over) return;
    if (this.postponed) return this.inTurn(() => this.answer(status, headers, body));
    const leaves = this.leavesBody;
    if (leaves) this.pause();
    else this.resume();
    this.finish();
    const { res } = this;
    res.cork(() => {
      if (status !== 200) res.writeStatus(statusLine(status));
      for (let i = 0; i < headers.length; i += 2) res.writeHeader(headers[i] as string, headers[i + 1] as string);
      // The parser would cut the connection off, and with it the answer, while the client sends still: it is not
      // read any more instead, and goes when its client has gone or the parser's patience ends.
      const cuts = this.traffic.closing || this.malformed !== undefined;
      if (leaves && !cuts) res.writeHeader("connection", "close");
      if (this.method === "HEAD") res.endWithoutBody(Buffer.byteLength(body), cuts);
      else res.end(body, cuts);
    });
  }

  open(status: number, headers: HeaderList, length?: number): void {
    if (this.over) return;
    const { res } = this;
    if (this.method === "HEAD") this.complete();
    res.cork(() => {
      res.writeStatus(statusLine(status));
      for (let i = 0; i < headers.length; i += 2) res.writeHeader(headers[i] as string, headers[i + 1] as string);
      if (this.method === "HEAD") res.endWithoutBody(length ?? 0, this.traffic.closing);
    });
    this.length = length;
  }

  write(piece: string | Uint8Array): boolean {
    if (this.over) return false;
    if (this.length !== undefined)
      return this.writeOf(this.length, typeof piece === "string" ? Buffer.from(piece) : piece);
    let flushed = false;
    this.res.cork(() => {
      flushed = this.res.write(piece);
    });
    return flushed;
  }

  /** Writes a piece of an answer of known length: what the socket does not take at once is kept for later. */
  private writeOf(length: number, bytes: Uint8Array): boolean {
    const at = this.res.getWriteOffset();
    if (at + bytes.byteLength >= length) this.resume();
    let taken = false;
    let complete = false;
    this.res.cork(() => {
      [taken, complete] = this.res.tryEnd(bytes, length);
    });
    this.rest = taken || complete ? undefined : { bytes, at };
    if (complete) this.finish();
    return taken;
  }

  onWritable(listener: () => void): void {
    if (this.over) return;
    this.res.onWritable((offset) => {
      const { rest } = this;
      const caughtUp =
        rest === undefined || this.writeOf(this.length as number, rest.bytes.subarray(offset - rest.at)) || this.over;
      if (caughtUp) listener();
      return caughtUp;
    });
  }

  end(piece = "") {
    if (this.over) return;
    // Less than was told: the client must not take it for the whole.
    if (this.length !== undefined && this.length > 0) return this.close();
    this.complete();
    this.res.cork(() => {
      if (piece !== "") this.res.write(piece);
      this.res.end(undefined, this.traffic.closing);
    });
  }

  close(): void {
    if (!this.over) this.res.close();
  }
}
