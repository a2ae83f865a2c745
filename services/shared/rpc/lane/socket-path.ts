import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// A Unix domain socket costs a third less than a port on loopback, and no other user of the machine reaches it.

const DIRECTORY = "sallyport-lane-";
const FILE = "lane";
/** The longest path of a socket on any system that has them, in bytes: macOS takes 103 (sys/un.h). */
const LONGEST = 103;
/** As mkdtemp(3) makes them. */
const OURS = new RegExp(`/${DIRECTORY}[A-Za-z0-9]{6}/${FILE}$`);

/** A path for a socket, in a new directory that only this user enters; undefined where there can be none. */
export function newSocketPath(): string | undefined {
  if (process.platform === "win32" || Buffer.byteLength(join(tmpdir(), `${DIRECTORY}123456`, FILE)) > LONGEST)
    return undefined;
  try {
    return join(mkdtempSync(join(tmpdir(), DIRECTORY)), FILE);
  } catch {
    // A temporary directory that takes no files: the lane has a port.
    return undefined;
  }
}

/** Whether a path can be that of a lane: what is announced leads to no other socket of the machine. */
export function isSocketPath(path: string): boolean {
  return path.startsWith("/") && OURS.test(path) && Buffer.byteLength(path) <= LONGEST;
}
