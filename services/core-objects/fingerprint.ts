import { createHash } from "node:crypto";

/** Deepest value and longest text, in characters of canonical JSON, that has a fingerprint. */
const MAX_DEPTH = 64;
const MAX_TEXT = 64 * 1024;

/**
 * The SHA-256 of a JSON value, in base64url; the order of members does not change it.
 *
 * @returns undefined for a value that is deeper or longer than it may be.
 */
export function fingerprintOf(value: unknown): string | undefined {
  const parts: string[] = [];
  let length = 0;
  const write = (text: string): boolean => {
    parts.push(text);
    length += text.length;
    return length <= MAX_TEXT;
  };
  const walk = (one: unknown, depth: number): boolean => {
    if (depth > MAX_DEPTH) return false;
    if (Array.isArray(one)) return write("[") && one.every((item) => walk(item, depth + 1) && write(",")) && write("]");
    if (typeof one !== "object" || one === null) return write(JSON.stringify(one) ?? "null");
    const members = Object.entries(one).filter(([, member]) => member !== undefined);
    members.sort(([a], [b]) => (a < b ? -1 : 1));
    return (
      write("{") &&
      members.every(([name, member]) => write(`${JSON.stringify(name)}:`) && walk(member, depth + 1) && write(",")) &&
      write("}")
    );
  };
  if (!walk(value, 0)) return undefined;
  return createHash("sha256").update(parts.join("")).digest("base64url");
}
