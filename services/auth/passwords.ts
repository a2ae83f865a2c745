import { hash, verify } from "@node-rs/argon2";
import type { WorkLimit } from "../shared/limits/work-limit.js";
import { invalidArgument } from "../shared/rpc/errors.js";
import { isCommon } from "./common-passwords.js";

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
  if (isCommon(lower) || new Set(lower).size < 4 || own.some((word) => word.toLowerCase() === lower)) {
    throw invalidArgument("the password is too easy to guess: choose another");
  }
  return limit.run(() => hash(text, ARGON2ID));
}

/** What a password comes to that somebody enters. */
export interface Checked {
  readonly isRight: boolean;
  /** The hash as it is made today, where the kept one was made otherwise. */
  readonly rehashed?: string;
}

/** How hashes begin that are made today. */
const PREFIX = `$argon2id$v=19$m=${ARGON2ID.memoryCost},t=${ARGON2ID.timeCost},p=${ARGON2ID.parallelism}$`;
/** Of nobody's password: it costs what a real one costs. */
const NOBODYS = `${PREFIX}c2FsbHlwb3J0LW5vYm9keQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA`;

/**
 * Checks a password, at the same cost whether there is one to check it against or not.
 *
 * @param kept the hash of the person's password; undefined or null where there is no such person, or no password.
 */
export async function checkPassword(
  password: string,
  kept: string | null | undefined,
  limit: WorkLimit,
): Promise<Checked> {
  // Longer than any that we take: its hash is not worth the work, and says nothing either.
  const text = password.slice(0, 4 * MAX_LENGTH).normalize("NFKC");
  const isRight = await limit.run(() => verify(kept ?? NOBODYS, text));
  if (kept === undefined || kept === null || !isRight) return { isRight: false };
  if (kept.startsWith(PREFIX)) return { isRight };
  return { isRight, rehashed: await limit.run(() => hash(text, ARGON2ID)) };
}
