import { createHash } from "node:crypto";

/** A short fingerprint of a text or of bytes: 96 bits of SHA-256 as lower-case hexadecimal. */
export function digest(said: string | Uint8Array): string {
  return createHash("sha256").update(said).digest("hex").slice(0, 24);
}
