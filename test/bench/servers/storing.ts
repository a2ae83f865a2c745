// The floors of a change that is recorded: µWebSockets.js, which may replace a
// document in LMDB, then appends a record to a file, and answers with the
// same bytes once that is on disk. It parses, checks and indexes nothing.

import { constants, mkdtempSync, openSync, rmSync, write } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { open } from "lmdb";
import { type BareAnswer, listenBare } from "./listen-bare.js";
import { serveAsAsked } from "./own.js";

/** Bytes of the document that is replaced for a request, if one is, and of the record that is appended. */
export interface Stored {
  readonly document?: number;
  readonly record: number;
}

/** The answer, and what is stored before it. */
export interface StoringAnswer extends BareAnswer, Stored {}

/** Documents that take turns, so that no change waits for another of the same. */
const DOCUMENTS = 1_000;
/** Where the file begins again. */
const FILE_BYTES = 64 * 1_048_576;

const writeTo = promisify(write);

/** Appends records; those that come while one is being written go together, as in a group commit. */
function appender(path: string, bytes: number): () => Promise<void> {
  const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_DSYNC);
  let waiting: (() => void)[] = [];
  let isWriting = false;
  let at = 0;
  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const those = waiting;
      waiting = [];
      const length = those.length * bytes;
      if (at + length > FILE_BYTES) at = 0;
      await writeTo(fd, Buffer.alloc(length, 1), 0, length, at);
      at += length;
      for (const done of those) done();
    }
    isWriting = false;
  }
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (!isWriting) void writeAll();
    });
}

serveAsAsked(({ document, record, ...answer }: StoringAnswer) => {
  const folder = mkdtempSync(join(tmpdir(), "storing-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const documents = open<Buffer, number>({ path: folder, encoding: "binary", overlappingSync: false, pageSize: 8192 });
  const append = appender(join(folder, "records"), record);
  let changes = 0;
  return listenBare(answer, async () => {
    if (document !== undefined) await documents.put(changes++ % DOCUMENTS, Buffer.alloc(document, changes));
    await append();
  });
});
