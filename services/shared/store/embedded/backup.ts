import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { open } from "lmdb";
import { VERSION } from "../../process/version.js";
import { checkDataFile } from "./integrity.js";
import { isJournalName, journalsIn } from "./journal-files.js";
import { toDisk } from "./to-disk.js";

/** The environments of an embedded store; what a data directory has besides them is no part of a backup. */
export const ENVIRONMENTS = ["main", "traces"] as const;

/** What lies beside the copies. */
export interface BackupManifest {
  readonly format: 1;
  /** The version of the program that made it. */
  readonly version: string;
  /** ISO 8601: everything that was acknowledged before is in it. */
  readonly made_at: string;
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[];
}

const MANIFEST = "manifest.json";

/**
 * Copies an embedded store that may be serving: of each environment all that
 * was acknowledged before, as one transaction saw it. Free pages are left out,
 * and so is what lies beside the store: keys, and bootstrap.json.
 *
 * @param to a directory that is not there yet.
 * @throws Error in one line.
 */
export async function backUpStore(dataDir: string, to: string): Promise<BackupManifest> {
  if (!existsSync(join(dataDir, "main", "data.mdb"))) {
    throw new Error(
      `there is no embedded store in ${dataDir}: set DATA_DIR; if records are in MongoDB, use the backup tools of MongoDB`,
    );
  }
  if (existsSync(to)) throw new Error(`${to} already exists: name a new directory for the backup`);
  const draft = `${to}.part`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  chmodSync(draft, 0o700);
  try {
    const madeAt = new Date().toISOString();
    const there = ENVIRONMENTS.filter((name) => existsSync(join(dataDir, name, "data.mdb")));
    const files: BackupManifest["files"][number][] = [];
    const add = async (file: string) => files.push({ name: file, ...(await digestOf(join(draft, file))) });
    for (const name of there) {
      const [from, into] = [join(dataDir, name), join(draft, name)];
      mkdirSync(into, { mode: 0o700 });
      // Journals first: what has left them since is in the environment.
      const journals = journalsIn(from);
      for (const journal of journals) copyJournal(join(from, journal), join(into, journal));
      await copyEnvironment(from, into);
      for (const file of [...journals, "data.mdb"]) await add(join(name, file));
    }
    const manifest: BackupManifest = { format: 1, version: VERSION, made_at: madeAt, files };
    writeFileSync(join(draft, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
    for (const path of [join(draft, MANIFEST), draft]) toDisk(path);
    renameSync(draft, to);
    toDisk(dirname(to));
    return manifest;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

/** Another process may have it open and write: LMDB's readers see one transaction whatever is written meanwhile. */
async function copyEnvironment(from: string, to: string): Promise<void> {
  const environment = open({ path: from, readOnly: true, maxDbs: 512, pageSize: 8192 });
  try {
    await environment.backup(to, true);
  } finally {
    await environment.close();
  }
  const file = join(to, "data.mdb");
  chmodSync(file, 0o600);
  checkDataFile(file);
  toDisk(file);
  toDisk(to);
}

/** Another process may append to it: a frame that is not whole is no part of a journal. */
function copyJournal(from: string, to: string): void {
  copyFileSync(from, to);
  chmodSync(to, 0o600);
  toDisk(to);
}

/**
 * Reads what a backup says of itself, and checks that its files are whole.
 *
 * @throws Error in one line, where it is none, or damaged.
 */
export async function readBackup(from: string): Promise<BackupManifest> {
  const path = join(from, MANIFEST);
  if (!existsSync(path)) throw new Error(`${from} is not a backup: it has no ${MANIFEST}`);
  const manifest = JSON.parse(readFileSync(path, "utf8")) as BackupManifest;
  if (manifest.format !== 1)
    throw new Error(`${from} was made by a newer version (${manifest.version}): use that version`);
  for (const { name, bytes, sha256 } of manifest.files) {
    const isJournal = ENVIRONMENTS.some((one) => dirname(name) === one && isJournalName(basename(name)));
    if (!isJournal && !ENVIRONMENTS.some((one) => join(one, "data.mdb") === name))
      throw new Error(`${path} names ${name}, which is not a file of a backup`);
    const file = join(from, name);
    if (!existsSync(file)) throw new Error(`the backup is incomplete: ${file} is missing`);
    const found = await digestOf(file);
    if (found.bytes !== bytes || found.sha256 !== sha256) throw new Error(`the backup is damaged: ${file} was changed`);
    if (!isJournal) checkDataFile(file);
  }
  return manifest;
}

async function digestOf(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return { bytes: statSync(path).size, sha256: hash.digest("hex") };
}
