import { type HeaderList, JSON_HEADERS, statusLine } from "./exchange.js";

// node:http takes and gives the bytes of headers as characters of Latin-1; here
// they are text, as UTF-8 has it.

const BEYOND_ASCII = /[^\t\x20-\x7e]/;
/** What no header may hold (RFC 9110 section 5.5). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is about.
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/g;

/** The text of what node:http read as Latin-1. */
export function decoded(latin1: string): string {
  return BEYOND_ASCII.test(latin1) ? Buffer.from(latin1, "latin1").toString() : latin1;
}

/** Headers as node:http writes them, with the length of the body where it is known. */
export function encoded(headers: HeaderList, length: number | undefined): string[] {
  const all = headers.map((text) =>
    BEYOND_ASCII.test(text) ? Buffer.from(text.replaceAll(CONTROL, " ")).toString("latin1") : text,
  );
  if (length !== undefined) all.push("content-length", String(length));
  return all;
}

/** A whole answer after which the connection ends, for where node:http does not write it. */
export function answerBytes(status: number, headers: HeaderList, body: Uint8Array, isHead = false): Buffer {
  const all = encoded(headers, status === 204 ? undefined : body.byteLength);
  all.push("connection", "close", "date", new Date().toUTCString());
  let head = `HTTP/1.1 ${statusLine(status)}\r\n`;
  for (let i = 0; i < all.length; i += 2) head += `${all[i]}: ${all[i + 1]}\r\n`;
  return Buffer.concat([Buffer.from(`${head}\r\n`, "latin1"), isHead ? Buffer.alloc(0) : body]);
}

/** The answer to what the parser could not read, or would not wait for. @param fault what is wrong with it, as a sentence. */
export function faultBytes(status: number, word: string, fault: string): Buffer {
  const error = { code: status, message: fault, data: { error: word } };
  return answerBytes(status, JSON_HEADERS, Buffer.from(JSON.stringify({ jsonrpc: "2.0", error })));
}
