import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Database, open, type RootDatabase } from "lmdb";
import type { CollectionSpec } from "../store.js";
import { hearCommits } from "./commit.js";
import { DocumentReaders } from "./document-readers.js";
import { checkDataFile, DamagedStoreError } from "./integrity.js";
import { withPooledKeys } from "./read-keys.js";
import type { IndexRecord } from "./secondary-index.js";
import type { Stored } from "./stored.js";

/**
 * Opens the environment in a folder.
 *
 * @throws Error in one line, where the file is damaged.
 */
export function openEnvironment(path: string): RootDatabase {
  const file = join(path, "data.mdb");
  try {
    if (existsSync(file)) checkDataFile(file);
  } catch (error) {
    if (!(error instanceof DamagedStoreError)) throw error;
    throw new Error(
      `the store file ${file} is damaged: ${error.message}; restore a backup of the data directory, ` +
        `or move ${path} away to start without its data`,
    );
  }
  return shareEnvironment(path);
}

/** Opens one that this process may have open already. Resolved means on disk: without overlapping syncs a commit ends after its flush. */
export function shareEnvironment(path: string): RootDatabase {
  const root = open({ path, maxDbs: 512, overlappingSync: false, pageSize: 8192 });
  hearCommits(root);
  return root;
}

/** The documents of a collection, by id. */
export function documentsOf(root: RootDatabase, { name }: Pick<CollectionSpec, "name">): Database<Stored, Buffer> {
  return withReader(withPooledKeys(root.openDB(`d:${name}`, { keyEncoding: "binary", ...DOCUMENTS })));
}

/** What lmdb encodes and decodes values with; its types leave it out. */
interface Coding {
  readonly encoder: { encode(value: unknown): Buffer };
  decoder: { decode(bytes: Buffer, end?: number): unknown };
}

function withReader(database: Database<Stored, Buffer>): Database<Stored, Buffer> {
  const decoding = database as unknown as Coding;
  decoding.decoder = new DocumentReaders(decoding.decoder);
  return database;
}

/** The readers of documents that {@link documentsOf} gave. */
export function readersOf(documents: Database<Stored, Buffer>): DocumentReaders {
  return (documents as unknown as Coding).decoder as DocumentReaders;
}

/** What writes documents as they are stored; the bytes are written over by the next. */
export function encoderOf(documents: Database<Stored, Buffer>): Coding["encoder"] {
  return (documents as unknown as Coding).encoder;
}

/** What is known of each index of an environment, by collection and name. */
export function catalogueOf(root: RootDatabase): Database<IndexRecord, string> {
  return root.openDB("indexes", { encoding: "msgpack" });
}

/** Without shared record structures a document can be read whatever became of the writes around it. */
const DOCUMENTS = { encoding: "msgpack", encoder: { useRecords: false, structures: undefined } } as const;

/** How lmdb reads: everything else that reads goes by these. All databases of an environment have them of one prototype. */
const READS = [
  "get",
  "getBinary",
  "getBinaryFast",
  "getString",
  "getEntry",
  "doesExist",
  "getRange",
  "getKeys",
  "getStats",
];

/**
 * Closes an environment; who reads it from now on, or while its last writes are
 * flushed, is told so. lmdb gives its read transaction back as soon as it begins
 * to close, and would read on in the memory that it had: whatever stands there
 * then, an error without sense, or a SIGBUS or SIGSEGV of the whole process.
 */
export async function closeEnvironment(root: RootDatabase): Promise<void> {
  const prototype: object = Object.getPrototypeOf(root);
  for (const name of READS) Object.defineProperty(prototype, name, { value: refuse });
  await root.close();
}

function refuse(): never {
  throw new Error("the store is closed");
}
