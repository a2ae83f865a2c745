import { hash } from "@node-rs/argon2";
import { invalidArgument } from "../shared/rpc/errors.js";
import type { WorkLimit } from "./work-limit.js";

const MIN_LENGTH = 12;
const MAX_LENGTH = 128;
/** Argon2id, 19 MiB, two passes, one lane (OWASP Password Storage Cheat Sheet). */
const ARGON2ID = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/**
 * Hashes a password for rest, in PHC format.
 *
 * @param own what belongs to the user and must not be the password: name and address.
 * @throws ConnectError invalid_argument, where the password is too short, too long or the user's own name.
 */
export async function hashPassword(password: string, own: readonly string[], limit: WorkLimit): Promise<string> {
  const text = password.normalize("NFKC");
  const length = [...text].length;
  if (length < MIN_LENGTH) throw invalidArgument(`the password must have at least ${MIN_LENGTH} characters`);
  if (length > MAX_LENGTH) throw invalidArgument(`the password must have at most ${MAX_LENGTH} characters`);
  const lower = text.toLowerCase();
  if (new Set(lower).size < 4 || own.some((word) => word.toLowerCase() === lower)) {
    throw invalidArgument("the password is too easy to guess: choose another");
  }
  return limit.run(() => hash(text, ARGON2ID));
}
