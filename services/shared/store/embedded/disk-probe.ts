import { constants } from "node:fs";
import { open, rm, statfs } from "node:fs/promises";
import { join } from "node:path";

/** Knows whether a directory's disk takes writes, without asking it each time. */
export interface DiskProbe {
  /** Why it takes none, in words; undefined where the last probe found nothing. */
  refusal(): string | undefined;
  close(): Promise<void>;
}

/** What has to be free, in bytes: some of the largest things that one call writes. */
const FREE_BYTES = 1 << 20;
const EVERY_MS = 5_000;
/** One probe in this many writes. */
const WRITES_EVERY = 12;
const WRITTEN = Buffer.from("probe\n");
const FOR_WRITING = constants.O_WRONLY | constants.O_CREAT;

/**
 * Asks now and then how much of the disk is free and opens a file for writing,
 * which a read-only disk refuses; once a minute it writes some bytes over the
 * same ones, to the disk and not only to its cache. A database that reuses its
 * own free pages goes on for a while on a disk that is full.
 */
export async function createDiskProbe(dir: string, everyMs = EVERY_MS): Promise<DiskProbe> {
  // One name, so that a process that was killed leaves no more than one behind: the directory is held by one process.
  const path = join(dir, "probe");
  let refusal: string | undefined;
  let count = 0;

  async function probe(): Promise<void> {
    try {
      await checkFree(dir);
      await checkOpens(path, count++ % WRITES_EVERY === 0);
      refusal = undefined;
    } catch (error) {
      refusal = `the disk of the data directory accepts no writes (${(error as NodeJS.ErrnoException).code}): free space on it or make it writable`;
    }
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
      await rm(path, { force: true }).catch(() => undefined);
    },
  };
}

/** @throws what a write would throw where nothing is free. */
async function checkFree(dir: string): Promise<void> {
  const { bavail, bsize, blocks } = await statfs(dir);
  // Some file systems say nothing of their size.
  if (blocks > 0 && bavail * bsize < FREE_BYTES) {
    throw Object.assign(new Error(`less than ${FREE_BYTES} bytes are free`), { code: "ENOSPC" });
  }
}

async function checkOpens(path: string, writes: boolean): Promise<void> {
  const file = await open(path, FOR_WRITING, 0o600);
  try {
    if (!writes) return;
    await file.write(WRITTEN, 0, WRITTEN.length, 0);
    await file.datasync();
  } finally {
    await file.close();
  }
}
