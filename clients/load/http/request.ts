import { NAME } from "./head.js";

/** A POST that is sent. */
export interface Post {
  /** In lower case. The same object for all requests of one kind: what is sent is made of it once. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Where requests go, and with which headers; in lower case. */
export interface Target {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * The head of a request, up to the number of its body's bytes.
 *
 * @throws Error that names the header that cannot be sent.
 */
export function headOfRequest({ url, headers }: Target, own: Readonly<Record<string, string>>): string {
  const all = Object.entries({
    host: url.host,
    connection: "keep-alive",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...own,
    ...headers,
  });
  const wrong = all.find(([name, value]) => !NAME.test(name) || !VALUE.test(value));
  // The value may be a secret: it is not repeated.
  if (wrong !== undefined) throw new Error(`the header ${wrong[0]} has characters that no header can have`);
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join("")}content-length: `;
}

/** The request as it is sent, in Latin-1 if it is a text. */
export function requestOf(head: string, body: string): string | Buffer {
  const bytes = Buffer.byteLength(body);
  const start = `${head}${bytes}\r\n\r\n`;
  return bytes === body.length ? start + body : Buffer.concat([Buffer.from(start, "latin1"), Buffer.from(body)]);
}
