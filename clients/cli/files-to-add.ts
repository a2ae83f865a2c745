import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { basename, extname, join, relative, sep } from "node:path";
import { DocumentType } from "#proto/core/v1/document_service_pb.js";

/** A file to add. */
export interface FileToAdd {
  readonly path: string;
  /** As it is cited: within the folder that was named. */
  readonly name: string;
}

/** What a file is. */
export interface Described {
  readonly type: DocumentType;
  readonly bytes: number;
  readonly sha256: string;
}

/** Why a file cannot be added, in words that follow its name. */
export class UnfitFileError extends Error {}

const MAX_BYTES = 64 * 2 ** 20;
const MAX_NAME = 200;
/** Bytes that tell whether a file without a known extension is text. */
const HEAD = 64 * 1024;
const TYPES: Readonly<Record<string, DocumentType>> = {
  ".md": DocumentType.MARKDOWN,
  ".markdown": DocumentType.MARKDOWN,
  ".html": DocumentType.HTML,
  ".htm": DocumentType.HTML,
  ".xhtml": DocumentType.HTML,
  ".pdf": DocumentType.PDF,
  ".docx": DocumentType.DOCX,
};

/** The files that paths name: of a folder all that are in it, in order, without hidden ones and links. */
export async function filesIn(paths: readonly string[]): Promise<FileToAdd[]> {
  const found = new Map<string, FileToAdd>();
  for (const path of paths) {
    if ((await stat(path)).isDirectory()) {
      for (const file of await walk(path)) found.set(file, { path: file, name: nameOf(relative(path, file)) });
    } else found.set(path, { path, name: nameOf(basename(path)) });
  }
  return [...found.values()];
}

async function walk(folder: string): Promise<string[]> {
  const files: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await walk(path)));
    else if (entry.isFile()) files.push(path);
  }
  return files;
}

/** Of a longer name the end: it tells more. */
function nameOf(path: string): string {
  const name = path.split(sep).join("/");
  return name.length <= MAX_NAME ? name : `…${name.slice(1 - MAX_NAME)}`;
}

/** Reads a file once, piece by piece. @throws UnfitFileError */
export async function described(path: string): Promise<Described> {
  const { size } = await stat(path);
  if (size === 0) throw new UnfitFileError("it is empty");
  if (size > MAX_BYTES) throw new UnfitFileError("it has more than 64 MiB: divide it into several files");
  const type = TYPES[extname(path).toLowerCase()] ?? (await textOr(path));
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of createReadStream(path)) {
    bytes += (piece as Buffer).length;
    hash.update(piece as Buffer);
  }
  if (bytes !== size) throw new UnfitFileError("it changed while it was read: run the command again");
  return { type, bytes, sha256: hash.digest("hex") };
}

async function textOr(path: string): Promise<DocumentType> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0);
    if (!buffer.subarray(0, bytesRead).includes(0)) return DocumentType.TEXT;
  } finally {
    await file.close();
  }
  throw new UnfitFileError("its format is not known: text, Markdown, HTML, PDF and docx can be added");
}
