/** The head of an answer. */
export interface Head {
  readonly status: number;
  /** By names in lower case; values of one name are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** How the body ends: after this many bytes, with its last chunk, or with the connection. */
  readonly body: number | "chunked" | "closed";
  /** Whether the connection stays open for the next request. */
  readonly isKept: boolean;
}

/** An answer that is not one of HTTP/1.1; the message says why. */
export class NotHttp extends Error {}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/;
/** A header's name (RFC 9110 section 5.1). */
export const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
/** Lines without control characters but tabs. */
const LINES = /^[\t\x20-\x7e\x80-\xff]*(?:\r\n[\t\x20-\x7e\x80-\xff]*)*$/;
const DIGITS = /^\d{1,15}$/;
const WITHOUT_BODY = new Set([204, 304]);

/**
 * Reads the head of an answer, without the empty line at its end.
 *
 * @param text in Latin-1.
 * @throws NotHttp
 */
export function headOf(text: string): Head {
  if (!LINES.test(text)) throw new NotHttp("the answer's head has a control character");
  let at = text.indexOf("\r\n");
  const first = at === -1 ? text : text.slice(0, at);
  const [, minor, status] = STATUS_LINE.exec(first) ?? [];
  if (minor === undefined || status === undefined) throw new NotHttp("the answer has no status line of HTTP/1.1");
  const headers: Record<string, string> = {};
  while (at !== -1) {
    const start = at + 2;
    at = text.indexOf("\r\n", start);
    addLine(headers, at === -1 ? text.slice(start) : text.slice(start, at));
  }
  const body = WITHOUT_BODY.has(Number(status)) || status.startsWith("1") ? 0 : bodyOf(headers);
  const said = headers.connection?.toLowerCase() ?? "";
  const isKept = body !== "closed" && (minor === "1" ? !said.includes("close") : said.includes("keep-alive"));
  return { status: Number(status), headers, body, isKept };
}

function addLine(headers: Record<string, string>, line: string): void {
  const colon = line.indexOf(":");
  const name = line.slice(0, Math.max(0, colon)).toLowerCase();
  if (!NAME.test(name)) throw new NotHttp("the answer has a line that is no header");
  const value = line.slice(colon + 1).trim();
  // Object.hasOwn: a server may send a header by the name of what every object has.
  headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value;
}

function bodyOf(headers: Readonly<Record<string, string>>): Head["body"] {
  const { "transfer-encoding": encoding, "content-length": length } = headers;
  if (encoding !== undefined) {
    if (length !== undefined) throw new NotHttp("the answer has both a Content-Length and a Transfer-Encoding");
    if (encoding.toLowerCase() !== "chunked") throw new NotHttp("the answer's Transfer-Encoding is not chunked");
    return "chunked";
  }
  if (length === undefined) return "closed";
  const [one = "", ...others] = new Set(length.split(", "));
  if (others.length > 0 || !DIGITS.test(one)) throw new NotHttp("the answer's Content-Length is no number");
  return Number(one);
}
