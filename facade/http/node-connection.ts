import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Traffic } from "./edge.js";
import type { Exchange } from "./exchange.js";
import { faultBytes } from "./node-answer.js";
import { type Line, NodeExchange } from "./node-exchange.js";
import { type Feeding, feedInSlices } from "./node-feed.js";

/**
 * A connection of node:http: one request of it is answered at a time. What comes
 * before that is done waits as long as the answer is made at once; else the
 * connection is cut, so that nobody has more in flight than connections.
 */
export class NodeConnection implements Line, Feeding {
  private front: NodeExchange | undefined;
  private before: IncomingMessage | undefined;
  private readonly behind: (readonly [IncomingMessage, ServerResponse])[] = [];
  private isLeaving = false;
  private clock: NodeJS.Timeout | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly traffic: Traffic,
    private readonly handle: (exchange: Exchange) => void,
    /** How long it may be silent where it is the client's turn, in milliseconds. */
    private readonly idleMs: number,
  ) {
    socket.once("end", () => this.gone());
    socket.once("close", () => {
      clearTimeout(this.clock);
      this.gone();
    });
    feedInSlices(socket, this);
  }

  get isOver(): boolean {
    return this.isLeaving || this.socket.destroyed;
  }

  get bodyLeft(): number {
    return this.front?.bodyLeft ?? 0;
  }

  get isCrowded(): boolean {
    return this.behind.length > 0;
  }

  /** Takes the next request. */
  take(req: IncomingMessage, res: ServerResponse) {
    if (this.isLeaving) return;
    clearTimeout(this.clock);
    // What stood behind a body where only its end is read: see NodeExchange.
    if (this.before !== undefined && this.before.rawTrailers.length > 0) return this.cut();
    this.before = req;
    if (this.front === undefined) return this.begin(req, res);
    this.behind.push([req, res]);
    if (this.front.postponed || this.front.isPutOff) this.cut();
    else if (this.behind.length === 1) this.hurry(this.front);
  }

  private begin(req: IncomingMessage, res: ServerResponse): void {
    const exchange = new NodeExchange(req, res, this, this.traffic);
    this.front = exchange;
    // Also what the client is to read has left by then.
    res.once("finish", () => this.next(req));
    this.handle(exchange);
    if (this.isCrowded) this.hurry(exchange);
  }

  private next(req: IncomingMessage) {
    this.front = undefined;
    if (this.traffic.closing) return this.socket.destroySoon();
    const next = this.behind.shift();
    if (next !== undefined) return this.begin(...next);
    if (req.complete) return;
    // The rest of a body that nobody wants.
    this.clock = setTimeout(() => !req.complete && this.cut(), this.idleMs);
  }

  /** Gives an answer that others wait behind until the turn of the event loop is over. */
  private hurry(front: NodeExchange): void {
    setImmediate(() => {
      if (this.front === front && this.isCrowded) this.cut();
    });
  }

  leave(bytes: Buffer): void {
    this.isLeaving = true;
    clearTimeout(this.clock);
    this.clock = setTimeout(() => this.socket.destroy(), this.idleMs);
    this.socket.end(bytes);
  }

  refuse(status: number, fault: string) {
    const { front } = this;
    // What comes after a request is not an answer to it.
    if (this.isCrowded || front?.isBegun) return this.cut();
    front?.abort();
    this.leave(faultBytes(status, WORDS[status] ?? "malformed_request", fault));
  }

  /** Ends with what the parser could not read, or would not wait for. */
  fail(status: number, fault: string) {
    if (this.isLeaving) return;
    if (!this.socket.writable || this.front?.isRead) this.cut();
    else this.refuse(status, fault);
  }

  /** Nothing has come or gone for a while. */
  silent(): void {
    const { front, socket } = this;
    const isClientsTurn = front === undefined || front.awaitsBody || socket.writableLength > 0;
    if (isClientsTurn) this.cut();
    else socket.setTimeout(this.idleMs);
  }

  cut() {
    clearTimeout(this.clock);
    this.gone();
    this.socket.destroy();
  }

  private gone(): void {
    this.behind.length = 0;
    this.front?.abort();
  }
}

/** The words for programs of what the parser says. */
const WORDS: Readonly<Record<number, string>> = { 408: "too_slow", 431: "headers_too_large" };
