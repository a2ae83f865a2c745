import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { newSealKey, parseSealKeys } from "../shared/secrets/seal.js";
import { writePrivate } from "./private-files.js";

/** What was done to the sealing keys of a data directory. */
export interface RotatedSeal {
  readonly file: string;
  /** How many keys it holds now; the first seals, all open. */
  readonly keys: number;
}

/**
 * Puts a new sealing key before those of DATA_DIR/secrets-key. The next start seals everything with it; what
 * runs goes on with those that it has.
 *
 * @throws Error in one line, where the keys are elsewhere, missing or none.
 */
export function rotateSeal(configured: readonly Buffer[] | undefined, dataDir: string): RotatedSeal {
  if (configured !== undefined)
    throw new Error("the sealing key is in SECRETS_KEY: put the new key before it, and restart the service");
  const file = join(dataDir, "secrets-key");
  if (!existsSync(file)) throw new Error(`${file} is missing: set DATA_DIR to the service's data directory`);
  const text = readFileSync(file, "utf8").trim();
  const keys = parseSealKeys(text).length + 1;
  writePrivate(file, `${newSealKey()}\n${text}\n`);
  return { file, keys };
}
