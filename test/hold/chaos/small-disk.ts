import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

/** A disk of memory that can be filled. It cannot be made read-only while a store has files open on it. */
export interface SmallDisk {
  readonly path: string;
  fill(): void;
  empty(): void;
  close(): void;
}

const MEBI = 1 << 20;
const SIZE = "256m";

/** Why there is no such disk here; undefined where there is one. */
export const noSmallDisk = process.getuid?.() === 0 ? undefined : "only root can mount one";

/** Mounts one; undefined where this process may not. */
export function openSmallDisk(path: string): SmallDisk | undefined {
  mkdirSync(path, { recursive: true });
  if (noSmallDisk !== undefined || !isMounted(path)) return undefined;
  const file = join(path, "filled");
  return {
    path,
    fill() {
      const out = openSync(file, "w");
      try {
        for (let size = MEBI; size > 0; size >>= 1) pour(out, Buffer.alloc(size));
      } finally {
        closeSync(out);
      }
    },
    empty: () => rmSync(file, { force: true }),
    close: () => void spawnSync("umount", ["-l", path]),
  };
}

function isMounted(path: string): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE}`, "chaos", path]).status === 0;
}

/** Writes until nothing of this size fits any more. */
function pour(out: number, piece: Buffer): void {
  try {
    while (writeSync(out, piece) > 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}
