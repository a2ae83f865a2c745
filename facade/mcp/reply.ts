import type { ProgressNote } from "../../services/shared/tools/callable-tool.js";
import type { PreparedText } from "../catalogue/prepared-text.js";
import { acceptedEncodings } from "../http/encodings.js";
import type { Exchange, HeaderList } from "../http/exchange.js";
import { errorText, INTERNAL_ERROR, type RequestId } from "./json-rpc.js";

/** Shortest time between two progress notifications, in milliseconds. */
const PROGRESS_MS = 100;
/** How often a silent stream says that it lives, for proxies on the way. */
const KEEP_ALIVE_MS = 15_000;
/** A client that reads slower than this many bytes behind is cut off. */
const MAX_BEHIND = 1 << 20;
/** Clients refuse a longer event. */
const MAX_EVENT = (1 << 20) - 1024;

const EVENT_STREAM: HeaderList = [
  "content-type",
  "text/event-stream",
  "cache-control",
  "no-cache, no-transform",
  "x-accel-buffering",
  "no",
];

/**
 * The answer to one request: one JSON text, or an event stream from the first
 * notification on where the client takes one.
 */
export class Reply {
  private streaming = false;
  private behind = 0;
  private keepAlive: NodeJS.Timeout | undefined;
  private last = Number.NEGATIVE_INFINITY;
  private lastAt = Number.NEGATIVE_INFINITY;
  private waiting: NodeJS.Timeout | undefined;
  private next: (() => string) | undefined;
  private readonly takesEvents: boolean;
  private readonly takesJson: boolean;

  /** @param headers what a JSON answer carries, with CORS. */
  constructor(
    private readonly exchange: Exchange,
    private readonly headers: HeaderList,
  ) {
    const { accept } = exchange.headers;
    this.takesEvents = accept?.includes("text/event-stream") ?? false;
    this.takesJson = !this.takesEvents || /application\/(?:json|\*)|\*\/\*/.test(accept as string);
  }

  /** Notifies of progress where that is further than before; not more often than clients can use. */
  progress(token: string | number, { done, total, message }: ProgressNote): void {
    if (!this.takesEvents || this.exchange.gone || !(done > this.last)) return;
    this.last = done;
    this.next = () =>
      notification("notifications/progress", {
        progressToken: token,
        progress: done,
        ...(total !== undefined && { total }),
        ...(message !== "" && { message }),
      });
    const wait = this.lastAt + PROGRESS_MS - performance.now();
    if (wait <= 0) this.flush();
    else this.waiting ??= setTimeout(() => this.flush(), wait);
  }

  /** Sends a notification at once, where the client takes event streams. */
  notify(method: string, params: object): void {
    if (this.takesEvents) this.event(notification(method, params));
  }

  /** Sends the response and ends the answer. */
  finish(
    status: 200 | 400 | 403 | 404 | 429 | 503,
    text: string | Buffer,
    id: RequestId,
    extra: HeaderList = [],
  ): void {
    this.stop();
    if (this.streaming) {
      this.exchange.end(eventOf(this.fitting(text.toString(), id)));
    } else if (status === 200 && !this.takesJson) {
      this.exchange.open(200, [...EVENT_STREAM, ...this.cors()]);
      this.exchange.end(eventOf(this.fitting(text.toString(), id)));
    } else {
      this.exchange.answer(status, extra.length === 0 ? this.headers : [...this.headers, ...extra], text);
    }
  }

  /** Sends a response that is prepared, in a coding that the client takes, and ends the answer. */
  finishPrepared(text: PreparedText, id: string | number): void {
    const encodings = this.takesJson ? acceptedEncodings(this.exchange.headers["accept-encoding"]) : [];
    const { bytes, headers } = text.encodedWith(id, encodings);
    this.finish(200, bytes, id, headers);
  }

  /** Stops what runs on a timer; nothing is sent any more. */
  stop(): void {
    clearInterval(this.keepAlive);
    clearTimeout(this.waiting);
    this.waiting = undefined;
    this.next = undefined;
  }

  /** Whether the response will come as an event, whose status is 200 already. */
  get isStream(): boolean {
    return this.streaming;
  }

  private flush(): void {
    const { next } = this;
    this.waiting = undefined;
    // A client that is behind gets the newest progress when it has caught up.
    if (next === undefined || this.behind > 0) return;
    this.next = undefined;
    this.lastAt = performance.now();
    this.event(next());
  }

  private event(text: string): void {
    if (this.exchange.gone) return;
    if (!this.streaming) {
      this.streaming = true;
      this.exchange.open(200, [...EVENT_STREAM, ...this.cors()]);
      this.exchange.onWritable(() => {
        this.behind = 0;
        if (this.waiting === undefined) this.flush();
      });
      this.keepAlive = setInterval(() => this.send(": \n\n"), KEEP_ALIVE_MS);
    }
    this.send(eventOf(text));
  }

  private send(piece: string): void {
    if (this.exchange.write(piece)) return;
    this.behind += piece.length;
    if (this.behind <= MAX_BEHIND) return;
    this.stop();
    this.exchange.close();
  }

  private fitting(text: string, id: RequestId): string {
    if (Buffer.byteLength(text) <= MAX_EVENT) return text;
    return errorText(
      id,
      INTERNAL_ERROR,
      "The result is too large for an event stream; call again without a progress token",
    );
  }

  private cors(): HeaderList {
    const at = this.headers.indexOf("access-control-allow-origin");
    return at === -1 ? [] : this.headers.slice(at);
  }
}

function notification(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}

function eventOf(text: string): string {
  return `event: message\ndata: ${text}\n\n`;
}
