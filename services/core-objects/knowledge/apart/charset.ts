/** Bytes in which a page says how it is written, as browsers look for it. */
const PRESCAN = 1_024;
const CHARSET = /<meta[^>]{0,300}?charset\s*=\s*["']?([\w.:-]{1,40})/i;

/**
 * The text of a page: as its byte order mark says, else as its meta element says, else as UTF-8, and as windows-1252
 * where it is not valid UTF-8.
 */
export function pageOf(file: Uint8Array): string {
  const mark = markIn(file);
  if (mark !== undefined) return new TextDecoder(mark).decode(file);
  const said = CHARSET.exec(latin(file.subarray(0, PRESCAN)))?.[1];
  const decoder = said === undefined ? undefined : decoderOf(said);
  return decoder === undefined ? unmarked(file) : decoder.decode(file);
}

/**
 * The text of a file that does not say how it is written, but by a byte order mark: with lines that end as ours do.
 *
 * @throws Error for what is no text.
 */
export function plainTextOf(file: Uint8Array): string {
  const mark = markIn(file);
  const text = mark === undefined ? unmarked(file) : new TextDecoder(mark).decode(file);
  if (text.includes("\0")) throw new Error("it holds bytes that no text has");
  return text.replace(/\r\n?/g, "\n");
}

/** UTF-8, or windows-1252 where it is not valid UTF-8. */
function unmarked(file: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(file);
  } catch {
    return latin(file);
  }
}

function markIn([a, b, c]: Uint8Array): string | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  return a === 0xfe && b === 0xff ? "utf-16be" : undefined;
}

const latin = (bytes: Uint8Array): string => new TextDecoder("windows-1252").decode(bytes);

/** undefined for a charset that nobody knows. */
export function decoderOf(charset: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    // Who can write that a page is UTF-16 in single bytes means UTF-8.
    return new TextDecoder(/^utf-?16/i.test(charset) ? "utf-8" : charset);
  } catch {
    return undefined;
  }
}
