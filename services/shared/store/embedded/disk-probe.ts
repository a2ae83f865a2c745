import { open, rm } from "node:fs/promises";
import { join } from "node:path";

/** Knows whether a directory's disk takes writes, without asking it each time. */
export interface DiskProbe {
  /** Why it takes none, in words; undefined where the last probe was written. */
  refusal(): string | undefined;
  close(): Promise<void>;
}

/** What is tried to be written, in bytes: some of the largest things that one call writes. */
const PROBE_BYTES = 1 << 20;
const EVERY_MS = 5_000;

/**
 * Writes a file to the directory now and then, to the disk and not only to its
 * cache: a database that reuses its own free pages goes on for a while on a disk
 * that is full.
 */
export async function createDiskProbe(dir: string, everyMs = EVERY_MS): Promise<DiskProbe> {
  // One name, so that a process that was killed leaves no more than one behind: the directory is held by one process.
  const path = join(dir, "probe");
  const bytes = Buffer.alloc(PROBE_BYTES, 1);
  let refusal: string | undefined;

  async function write(): Promise<void> {
    const file = await open(path, "w", 0o600);
    try {
      await file.writeFile(bytes);
      await file.datasync();
    } finally {
      await file.close();
    }
  }

  async function probe(): Promise<void> {
    try {
      await write();
      refusal = undefined;
    } catch (error) {
      refusal = `the disk of the data directory takes no writes (${(error as NodeJS.ErrnoException).code}): free space on it or make it writable`;
    }
    await rm(path, { force: true }).catch(() => undefined);
  }

  await probe();
  let probing = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    // A disk that hangs is asked once.
    if (busy) return;
    busy = true;
    probing = probe().finally(() => {
      busy = false;
    });
  }, everyMs).unref();

  return {
    refusal: () => refusal,
    async close() {
      clearInterval(timer);
      await probing;
    },
  };
}
