import { type FileHandle, open } from "node:fs/promises";
import type { AuditReceiver } from "./receiver.js";
import type { ExportedRecord } from "./record.js";

/** The end of a file that is read for its last record, in bytes: a line has less than 20 KB. */
const TAIL = 64 << 10;
/** Only the account of the service reads and writes it. */
const MODE = 0o600;

/**
 * Appends records to a file, each as a line of JSON. The file may be renamed at any time: the next delivery makes a new
 * one. What the file has already, because the process ended before it knew, is not written twice.
 */
export function jsonLines(path: string): AuditReceiver {
  return {
    async send(records) {
      const file = await open(path, "a+", MODE);
      try {
        const last = await mendedEnd(file);
        const left = records.filter(({ number }) => number > last);
        await file.appendFile(left.map((record) => `${JSON.stringify(record)}\n`).join(""));
        await file.datasync();
      } finally {
        await file.close();
      }
    },
  };
}

/** Cuts off a line that was not written to its end; returns the number of the last record, 0 if there is none. */
async function mendedEnd(file: FileHandle): Promise<number> {
  const { size } = await file.stat();
  const length = Math.min(size, TAIL);
  const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
  const end = buffer.lastIndexOf("\n");
  if (end < 0 && size > length) throw new Error("the file does not end with a record of the audit: name another file");
  if (end < length - 1) await file.truncate(size - length + end + 1);
  if (end < 0) return 0;
  const begin = buffer.lastIndexOf("\n", end - 1) + 1;
  return numberIn(buffer.toString("utf8", begin, end));
}

function numberIn(line: string): number {
  let record: Partial<ExportedRecord>;
  try {
    record = JSON.parse(line) as Partial<ExportedRecord>;
  } catch {
    record = {};
  }
  if (Number.isSafeInteger(record?.number)) return record.number as number;
  throw new Error("the last line of the file is no record of the audit: name another file");
}
