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
  const pageCount = pageCountOf(bytes.length, page, pageBytes);
  const from = characterStart(bytes, (page - 1) * pageBytes);
  const to = characterStart(bytes, page * pageBytes);
  return { text: bytes.toString("utf8", from, to), page, pageCount, totalBytes: bytes.length };
}

/**
 * The same page of a text whose bytes are elsewhere: only those of the page are read.
 *
 * @param read gives the bytes from one position to before another, of which there are as many.
 * @throws ConnectError invalid_argument for a page after the last.
 */
export async function textPageOf(
  totalBytes: number,
  read: (from: number, to: number) => Promise<Buffer>,
  page = 1,
  pageBytes = DEFAULT_PAGE_BYTES,
): Promise<TextPage> {
  const pageCount = pageCountOf(totalBytes, page, pageBytes);
  const begin = Math.max(0, (page - 1) * pageBytes - LONGEST_CHARACTER);
  const bytes = await read(begin, Math.min(totalBytes, page * pageBytes + 1));
  const from = characterStart(bytes, (page - 1) * pageBytes - begin);
  const to = characterStart(bytes, page * pageBytes - begin);
  return { text: bytes.toString("utf8", from, to), page, pageCount, totalBytes };
}

/** Bytes of the longest character in UTF-8 (RFC 3629). */
const LONGEST_CHARACTER = 4;

function pageCountOf(totalBytes: number, page: number, pageBytes: number): number {
  const pageCount = Math.max(1, Math.ceil(totalBytes / pageBytes));
  if (page > pageCount) throw invalidArgument(`page ${page} does not exist: the last page is ${pageCount}`);
  return pageCount;
}

/** The first byte of the character that a position is in (RFC 3629: continuation bytes are 10xxxxxx). */
function characterStart(bytes: Buffer, position: number): number {
  let at = Math.min(position, bytes.length);
  while (at < bytes.length && at > 0 && (bytes[at]! & 0xc0) === 0x80) at--;
  return at;
}
