import { closeSync, fsyncSync, openSync } from "node:fs";

/** Writes a file, or the names in a directory, to the disk. */
export function toDisk(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
