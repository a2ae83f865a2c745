import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

// v1.<key, 8 hex>.<base64url of nonce (12 bytes), ciphertext, tag (16)>
//
// AES-256-GCM (NIST SP 800-38D) with a random nonce for each text. What stands
// before the box and where it stands are authenticated with it, so that a sealed
// text that is moved to another record does not open there.

/** Seals texts at rest, and opens them. */
export interface Seal {
  /** Tells the key that seals now from others, and nothing more of it. */
  readonly key: string;
  /** @param place where the text is kept, such as `signing_keys/ID`: it opens nowhere else. */
  seal(text: string, place: string): string;
  /** @throws SealError where it was sealed with a key that is not held, for another place, or was changed. */
  open(sealed: string, place: string): string;
  /** Whether a text was sealed with the key that seals now, and not with an older one. */
  isCurrent(sealed: string): boolean;
}

/** Something sealed does not open; the message is a line for whoever administers the service. */
export class SealError extends Error {}

const VERSION = "v1";
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

  return {
    key: current.id,
    seal(text, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", current.key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(`${head}.${place}`));
      const box = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${head}.${box.toString("base64url")}`;
    },
    open(sealed, place) {
      const [version, id, rest = ""] = sealed.split(".", 3);
      if (version !== VERSION) throw new SealError(`${place} is sealed in a way that this version does not know`);
      const found = held.find((one) => one.id === id);
      if (found === undefined) {
        throw new SealError(
          `${place} is sealed with another key: give that key too, after the new one, in --secrets-key (or SECRETS_KEY), or put back secrets-key in the data directory`,
        );
      }
      const box = Buffer.from(rest, "base64url");
      try {
        // One text, one spelling: the last character has bits that say nothing.
        if (box.toString("base64url") !== rest) throw new TypeError("not base64url");
        const nonce = box.subarray(0, NONCE_BYTES);
        const decipher = createDecipheriv("aes-256-gcm", found.key, nonce, { authTagLength: TAG_BYTES });
        decipher.setAAD(Buffer.from(`${version}.${id}.${place}`));
        decipher.setAuthTag(box.subarray(-TAG_BYTES));
        return decipher.update(box.subarray(NONCE_BYTES, -TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
      } catch {
        throw new SealError(`${place} was changed since it was sealed: put back a copy of the store`);
      }
    },
    isCurrent: (sealed) => sealed.startsWith(`${head}.`),
  };
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
