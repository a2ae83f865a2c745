import { invalidArgument } from "./errors.js";

/** Bytes of a page where the caller does not say. */
export const DEFAULT_PAGE_BYTES = 16_384;

/** One page of a text. */
export interface TextPage {
  readonly text: string;
  /** From 1. */
  readonly page: number;
  readonly pageCount: number;
  /** The size of the whole text in UTF-8. */
  readonly totalBytes: number;
}

/**
 * Cuts one page out of a text. Pages never split a character: a page begins
 * where the one before it ended, within three bytes of page × size.
 *
 * @param pageBytes at least 4, the longest character.
 * @throws ConnectError invalid_argument for a page after the last.
 */
export function textPage(text: string, page = 1, pageBytes = DEFAULT_PAGE_BYTES): TextPage {
  const bytes = Buffer.from(text, "utf8");
  const pageCount = Math.max(1, Math.ceil(bytes.length / pageBytes));
  if (page > pageCount) throw invalidArgument(`page ${page} is after the last one; there are ${pageCount}`);
  const from = characterStart(bytes, (page - 1) * pageBytes);
  const to = characterStart(bytes, page * pageBytes);
  return { text: bytes.toString("utf8", from, to), page, pageCount, totalBytes: bytes.length };
}

/** The first byte of the character that a position is in (RFC 3629: continuation bytes are 10xxxxxx). */
function characterStart(bytes: Buffer, position: number): number {
  let at = Math.min(position, bytes.length);
  while (at < bytes.length && at > 0 && (bytes[at]! & 0xc0) === 0x80) at--;
  return at;
}
