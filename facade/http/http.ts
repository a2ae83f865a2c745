/** One HTTP request and the way to answer it, once. The edge makes them; nothing here knows of its server. */
export interface Exchange {
  /** As the client wrote it: GET, POST. */
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  /** The query without its question mark; "" for none. */
  readonly query: string;
  /** Lower-case name to value, trimmed; a name given with different values has them joined by ", ". */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The client's address as text. */
  readonly address: string;

  /** The client hung up: nothing more can be sent. */
  readonly gone: boolean;
  /** Called when the client hangs up before the answer is complete; at most one listener. */
  onGone(listener: () => void): void;

  /**
   * Reads the body and calls `done` once: with its text, or with undefined
   * where it is longer than `limit` bytes, which may change while it is read.
   * To be called before the handler returns, and not after an answer.
   */
  read(limit: number | (() => number), done: (text: string | undefined) => void): void;
  /** Stops reading the body until resume(): what the client sends waits in its own buffers. */
  pause(): void;
  resume(): void;

  /** Answers in full. Does nothing when the client is gone or has its answer. */
  answer(status: Status, headers: HeaderList, body?: string | Uint8Array): void;

  /** Begins an answer that is written in pieces. */
  open(status: Status, headers: HeaderList): void;
  /** Writes a piece; false where the client reads slower than this is written: see onWritable. */
  write(piece: string | Uint8Array): boolean;
  /** Called when the client has caught up. */
  onWritable(listener: () => void): void;
  /** Ends an answer that was written in pieces. */
  end(piece?: string): void;
  /** Cuts the connection. */
  close(): void;
}

/** Names and values by turns: ["content-type", "text/plain", …]. */
export type HeaderList = readonly string[];

/** The status lines that the façade sends. */
export const STATUS = {
  200: "200 OK",
  201: "201 Created",
  202: "202 Accepted",
  204: "204 No Content",
  302: "302 Found",
  303: "303 See Other",
  304: "304 Not Modified",
  400: "400 Bad Request",
  401: "401 Unauthorized",
  403: "403 Forbidden",
  404: "404 Not Found",
  405: "405 Method Not Allowed",
  409: "409 Conflict",
  413: "413 Payload Too Large",
  415: "415 Unsupported Media Type",
  429: "429 Too Many Requests",
  500: "500 Internal Server Error",
  501: "501 Not Implemented",
  502: "502 Bad Gateway",
  503: "503 Service Unavailable",
  504: "504 Gateway Timeout",
} as const;
export type Status = keyof typeof STATUS;

/** What a JSON answer carries besides its length. */
export const JSON_HEADERS: HeaderList = ["content-type", "application/json", "cache-control", "no-store"];

/** A page of the façade that is not MCP. */
export interface Route {
  /** The exact path, or with a final "*" every path that begins so. */
  readonly path: string;
  readonly methods: readonly string[];
  /** Longest body that is read, in bytes; 0 for none. */
  readonly maxBody: number;
  handle(request: PageRequest): Promise<Page> | Page;
}

/** A request to a page, with its body. */
export interface PageRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly address: string;
  readonly body: string;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
}

/** The answer of a page. */
export interface Page {
  readonly status: Status;
  readonly headers: HeaderList;
  /** In full, or in pieces as they come. */
  readonly body?: string | Uint8Array | AsyncIterable<string | Uint8Array>;
}

/** A page that is a JSON value. */
export function jsonPage(status: Status, value: unknown, headers: HeaderList = JSON_HEADERS): Page {
  return { status, headers, body: JSON.stringify(value) };
}
