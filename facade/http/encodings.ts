import { LRUCache } from "lru-cache";

/** The content codings that are sent, the smallest first (RFC 9110 §8.4.1). */
export const ENCODINGS = ["br", "gzip"] as const;
/** One of them. */
export type Encoding = (typeof ENCODINGS)[number];

/**
 * The codings that a client takes by its Accept-Encoding, the smallest first; those with `q=0` are refused (RFC 9110
 * §12.5.3). A header of more than 256 characters is not read, and names none.
 */
export function acceptedEncodings(header: string | undefined): readonly Encoding[] {
  if (header === undefined || header === "" || header.length > LONGEST) return NONE;
  let accepted = known.get(header);
  if (accepted === undefined) {
    accepted = readEncodings(header);
    known.set(header, accepted);
  }
  return accepted;
}

const NONE: readonly Encoding[] = [];
/** Clients of one kind send the same. */
const known = new LRUCache<string, readonly Encoding[]>({ max: 64 });
const LONGEST = 256;

function readEncodings(header: string): readonly Encoding[] {
  const weights = new Map<string, boolean>();
  for (const part of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((one) => one.trim());
    weights.set(name === "x-gzip" ? "gzip" : name, !parameters.some((one) => /^q\s*=\s*0(?:\.0*)?$/.test(one)));
  }
  return ENCODINGS.filter((one) => weights.get(one) ?? weights.get("*") ?? false);
}
