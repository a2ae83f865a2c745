import { strToU8, type ZipOptions, zipSync } from "fflate";
import type { Files } from "./contents.js";

/** The first time that a zip can hold, where the machine is: another one would make the bytes depend on its zone. */
const FIRST = new Date(1980, 0, 1);
const REGULAR_FILE = (0o100644 << 16) >>> 0;
const UNIX = 3;

/**
 * A zip that is the same for the same files, whenever and wherever it is made. Its
 * files are stored as they are: compressing 50 KB of text costs more time of the event
 * loop, at each download, than the bytes that it saves are worth (decision 0070).
 */
export function zip(files: Files): Uint8Array {
  const options: ZipOptions = { mtime: FIRST, level: 0, os: UNIX, attrs: REGULAR_FILE };
  const sorted = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1));
  return zipSync(
    Object.fromEntries(
      sorted.map(([path, body]) => [path, [typeof body === "string" ? strToU8(body) : body, options] as const]),
    ) as Parameters<typeof zipSync>[0],
  );
}
