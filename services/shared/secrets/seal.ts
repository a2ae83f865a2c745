import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

// v2.<sealing key, 8 hex>.<data key, wrapped>.<text>
//
// Envelope encryption: each text has a data key of its own, and the sealing key
// wraps only that, so that no text is opened to change the sealing key. Both boxes are
// AES-256-GCM (NIST SP 800-38D) with a random nonce, in base64url. Where a text is
// kept is authenticated with both, so that what is moved to another record does not
// open there.

/** Seals texts at rest, and opens them. */
export interface Seal {
  /** Tells the key that seals now, and how, from others, and nothing more of it. */
  readonly key: string;
  /** @param place where the text is kept, such as `signing_keys/ID`: it opens nowhere else. */
  seal(text: string, place: string): string;
  /** @throws SealError where it was sealed with a key that is not held, for another place, or was changed. */
  open(sealed: string, place: string): string;
  /** Whether a text is sealed with the key and in the way of now, and not with an older one. */
  isCurrent(sealed: string): boolean;
  /** Wraps the data key of a text by the sealing key of now, without opening the text. @throws SealError as `open` does. */
  rewrap(sealed: string, place: string): string;
}

/** Something sealed does not open; the message is a line for whoever administers the service. */
export class SealError extends Error {}

const VERSION = "v2";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface SealKey {
  readonly id: string;
  readonly key: Buffer;
}

/** @param keys the first seals; all open what they sealed. */
export function createSeal(keys: readonly Buffer[]): Seal {
  const held = keys.map((key): SealKey => ({ id: idOf(key), key }));
  const [current] = held;
  if (current === undefined) throw new Error("a seal needs a key");
  const head = `${VERSION}.${current.id}`;

  function keyOf(id: string | undefined, place: string): Buffer {
    const found = held.find((one) => one.id === id);
    if (found !== undefined) return found.key;
    throw new SealError(
      `${place} is encrypted with another key: add that key after the new one in --secrets-key (or SECRETS_KEY), or restore secrets-key in the data directory`,
    );
  }

  /** The data key of a text, and the text as it is sealed by it. */
  function opened(sealed: string, place: string): { readonly dataKey: Buffer; readonly text: string } {
    const [, id, wrapped = "", text = ""] = sealed.split(".", 4);
    const dataKey = opening(place, () => unbox(keyOf(id, place), wrapped, `${VERSION}.${id}.${place}`));
    return { dataKey, text };
  }

  const wrap = (dataKey: Buffer, place: string): string => `${head}.${box(current.key, dataKey, `${head}.${place}`)}`;

  function seal(text: string, place: string): string {
    const dataKey = randomBytes(KEY_BYTES);
    return `${wrap(dataKey, place)}.${box(dataKey, Buffer.from(text), `${VERSION}.${place}`)}`;
  }

  function open(sealed: string, place: string): string {
    if (!sealed.startsWith(`${VERSION}.`))
      throw new SealError(
        `${place} is encrypted in a format that this version does not know: run the version that wrote it, or a newer one`,
      );
    const { dataKey, text } = opened(sealed, place);
    return opening(place, () => unbox(dataKey, text, `${VERSION}.${place}`)).toString();
  }

  return {
    key: head,
    seal,
    open,
    isCurrent: (sealed) => sealed.startsWith(`${head}.`),
    rewrap(sealed, place) {
      const { dataKey, text } = opened(sealed, place);
      return `${wrap(dataKey, place)}.${text}`;
    },
  };
}

function box(key: Buffer, content: Buffer, bound: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(bound));
  return Buffer.concat([nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()]).toString("base64url");
}

function unbox(key: Buffer, boxed: string, bound: string): Buffer {
  const bytes = Buffer.from(boxed, "base64url");
  // One content, one spelling: the last character has bits that say nothing.
  if (bytes.toString("base64url") !== boxed) throw new TypeError("not base64url");
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(bound));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
}

function opening(place: string, unboxed: () => Buffer): Buffer {
  try {
    return unboxed();
  } catch (error) {
    if (error instanceof SealError) throw error;
    throw new SealError(`${place} was changed after it was encrypted: restore a backup of the store`);
  }
}

/** A new key, as it is written down. */
export function newSealKey(): string {
  return randomBytes(KEY_BYTES).toString("base64url");
}

/**
 * Reads keys as they are written down: 32 bytes each in base64url, separated by
 * commas or line ends; the first seals.
 *
 * @throws Error that says what it should be, and never shows it.
 */
export function parseSealKeys(text: string): readonly Buffer[] {
  const keys = text.split(/[\s,]+/).filter((word) => word !== "");
  if (keys.length === 0 || !keys.every((word) => /^[A-Za-z0-9_-]{43}$/.test(word))) {
    throw new Error("must be keys of 32 bytes in base64url (43 characters), the newest first, separated by commas");
  }
  return keys.map((word) => Buffer.from(word, "base64url"));
}

/** Tells keys apart without telling anything of them. */
function idOf(key: Buffer): string {
  return createHash("sha256").update("sallyport seal").update(key).digest("hex").slice(0, 8);
}
