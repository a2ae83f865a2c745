import { accessSync, constants, mkdirSync } from "node:fs";

/** Makes the data directory, for its owner only. @throws Error in one line, where it cannot be used. */
export function prepareDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "EEXIST" ? "it is no directory" : message;
    throw new Error(`the data directory ${dataDir} cannot be used: ${reason}; set --data-dir (or DATA_DIR)`);
  }
}
