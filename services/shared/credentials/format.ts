import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

// <prefix><key id, 12 base62>_<secret, 43 base62 = 256 bits><checksum, 6 base62 of CRC-32>
//
// The id finds the key, because bcrypt is salted; the checksum throws out every
// typo without a look-up; the prefix lets secret scanners find keys in code.

/** The parts of an API key's token. */
export interface KeyParts {
  readonly keyId: string;
  readonly secret: string;
}

/** How a deployment writes its API keys. */
export interface KeyFormat {
  /** Makes a new key from the system's random source. */
  mint(): KeyParts & { readonly token: string };
  /** The parts of a well-formed token; undefined for anything else. Asks nobody. */
  parse(token: string): KeyParts | undefined;
  /** Matches the keys of this deployment, for secret scanners. */
  readonly scannerPattern: string;
}

/** The prefix of API keys where a deployment sets none. */
export const DEFAULT_KEY_PREFIX = "slp_";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX_RULE = /^[a-z][a-z0-9]{1,15}_$/;
/** The length of a key's id; nothing else that callers come with has one as short. */
export const KEY_ID_LENGTH = 12;
const AFTER_PREFIX = KEY_ID_LENGTH + 1 + 43 + 6;

/** @throws Error for a prefix other than 2 to 16 lower-case letters and digits and an underscore. */
export function createKeyFormat(prefix: string): KeyFormat {
  if (!PREFIX_RULE.test(prefix)) throw new Error("must be 2 to 16 lower-case letters or digits and an underscore");
  const pattern = new RegExp(`^${prefix}([0-9A-Za-z]{12})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$`);
  return {
    mint() {
      const keyId = randomBase62(KEY_ID_LENGTH);
      const secret = randomBase62(43);
      const body = `${prefix}${keyId}_${secret}`;
      return { keyId, secret, token: body + checksumOf(body) };
    },
    parse(token) {
      if (token.length !== prefix.length + AFTER_PREFIX) return undefined;
      const [, keyId, secret, checksum] = pattern.exec(token) ?? [];
      if (keyId === undefined || secret === undefined || checksumOf(token.slice(0, -6)) !== checksum) return undefined;
      return { keyId, secret };
    },
    scannerPattern: `${prefix}[0-9A-Za-z]{12}_[0-9A-Za-z]{49}`,
  };
}

/** Random base62 characters, each as likely as the others. */
export function randomBase62(length: number): string {
  let out = "";
  while (out.length < length) {
    // Six bits at a time; 62 and 63 are thrown away, for a remainder would favour some characters.
    for (const byte of randomBytes(length * 2)) {
      const digit = ALPHABET[byte & 63];
      if (digit !== undefined && out.length < length) out += digit;
    }
  }
  return out;
}

function checksumOf(body: string): string {
  let rest = crc32(body);
  let out = "";
  for (let i = 0; i < 6; i++) {
    out = ALPHABET[rest % 62] + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}
