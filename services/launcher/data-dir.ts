import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** What a restore makes ready, in the data directory; it is there until the restore is done. */
export const RESTORING = "restoring";

/** Makes the data directory, for its owner only. @throws Error in one line, where it cannot be used. */
export function prepareDataDir(dataDir: string, { isRestore = false } = {}): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "EEXIST" ? "it is not a directory" : message;
    throw new Error(`the data directory ${dataDir} cannot be used: ${reason}; set --data-dir (or DATA_DIR)`);
  }
  if (isRestore || !existsSync(join(dataDir, RESTORING))) return;
  throw new Error(
    `a restore into ${dataDir} did not finish: run it again, or remove ${join(dataDir, RESTORING)} to start without it`,
  );
}
