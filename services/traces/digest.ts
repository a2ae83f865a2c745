import { createHash } from "node:crypto";

/** A short fingerprint of a text: 96 bits of SHA-256 as lower-case hexadecimal. */
export function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}
