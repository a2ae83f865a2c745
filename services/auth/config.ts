import { createKeyFormat, DEFAULT_KEY_PREFIX } from "../shared/credentials/format.js";
import type { Option } from "../shared/process/config.js";

function keyPrefix(text: string): string {
  createKeyFormat(text);
  return text;
}

function leaseMs(text: string): number {
  const ms = Number(text);
  if (!Number.isInteger(ms) || ms < 100 || ms > 60_000) throw new Error("must be 100 to 60000 milliseconds");
  return ms;
}

/** The settings of the auth service. */
export const authOptions = {
  keyPrefix: {
    doc: "What API keys begin with: 2 to 16 lower-case letters or digits and an underscore.",
    parse: keyPrefix,
    fallback: DEFAULT_KEY_PREFIX,
  },
  leaseMs: {
    doc: "How long a process may use what it keeps without hearing from auth, in milliseconds: the longest a revocation can take.",
    parse: leaseMs,
    fallback: 3_000,
  },
} satisfies Record<string, Option<unknown>>;
