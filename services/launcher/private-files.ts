import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../shared/process/log.js";
import { createSeal, newSealKey, parseSealKeys, type Seal } from "../shared/secrets/seal.js";

/** Writes a file whole or not at all, and never readable by others in between. */
export function writePrivate(path: string, text: string): void {
  mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
}

/** What of the data directory is ours; the directory comes last, for what is in it may be narrow where it cannot be. */
const OWN = [
  "bootstrap.json",
  "service-key",
  "secrets-key",
  "main/data.mdb",
  "main/lock.mdb",
  "main/_replaced.0.journal",
  "main/_replaced.1.journal",
  "main/audit.0.journal",
  "main/audit.1.journal",
  "main",
  "traces/data.mdb",
  "traces/lock.mdb",
  "traces",
  ".",
];
const OTHERS = 0o077;

/**
 * Takes group and others their rights to our files, with one line to the log.
 *
 * @throws Error in one line, where others can read some of them still.
 */
export function narrowToOwner(dataDir: string, log: Log): void {
  // Windows has no such modes.
  if (process.platform === "win32") return;
  const narrowed: string[] = [];
  for (const name of OWN) {
    const path = join(dataDir, name);
    if (!existsSync(path) || !isOpen(path)) continue;
    try {
      chmodSync(path, statSync(path).mode & 0o777 & ~OTHERS);
    } catch {
      // Whoever owns it; whether that matters is seen below.
    }
    if (!isOpen(path)) narrowed.push(name);
    else if (!statSync(path).isDirectory()) {
      throw new Error(
        `other users can read ${path}, and this process cannot change that: chmod 600 the file, or make this user its owner`,
      );
    }
  }
  if (narrowed.length > 0)
    log.warn({ files: narrowed }, "other users could read files of the data directory; now only the owner can");
}

function isOpen(path: string): boolean {
  return (statSync(path).mode & OTHERS) !== 0;
}

/**
 * The seal of what is secret in the store: by the keys that are configured, else
 * by those in DATA_DIR/secrets-key, which the first start makes.
 */
export function openSeal(configured: readonly Buffer[] | undefined, dataDir: string): Seal {
  if (configured !== undefined) return createSeal(configured);
  const path = join(dataDir, "secrets-key");
  if (!existsSync(path)) writePrivate(path, `${newSealKey()}\n`);
  try {
    return createSeal(parseSealKeys(readFileSync(path, "utf8")));
  } catch (error) {
    throw new Error(`${path} ${(error as Error).message}`);
  }
}
