import type { Isolation, Packed, Remote, Work } from "../../shared/isolation/isolation.js";
import { KilledError, MisbehavedError } from "../../shared/isolation/misbehaved.js";
import { BusyError } from "../../shared/isolation/turns.js";
import type { ExtractionMethods, FetchAnswer, FetchQuestion, ReadAnswer, ReadQuestion } from "./apart/extraction.js";
import { DocumentError } from "./document-error.js";
import { type DocumentType, PIECE } from "./records.js";
import { PART } from "./text-parts.js";

/** How long one file may take, and the heap it may take. */
export interface ExtractionLimits {
  readonly ms: number;
  readonly megabytes: number;
  /** Memory, all of it: what is unpacked is beside the heap. */
  readonly wholeMegabytes: number;
  /** Characters of text that may come of it. */
  readonly characters: number;
}

/** A file, and how it is written: its bytes, one piece after the other, each of PIECE bytes at most; or where it is. */
export type FileToRead =
  | { readonly type: DocumentType; readonly pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array> }
  | FetchQuestion;

/** The text that a file has, part by part. */
export interface FileText extends ReadAnswer {
  /** Of the file: as was said, or as its server says. */
  readonly type: DocumentType;
  readonly fileBytes: number;
  part(n: number): Promise<string>;
}

const LIMITS: ExtractionLimits = { ms: 120_000, megabytes: 512, wholeMegabytes: 1_024, characters: 2 ** 26 };
/** How long a piece or a part may take, in milliseconds. */
const PIECE_MS = 20_000;
/** How long a file may take that is fetched, in milliseconds: the process gives up before. */
const FETCH_MS = 90_000;

/**
 * Reads a file. Each has a process of its own, which ends with it: what a hostile file does to a parser, it does there.
 * Here there is one piece or part of it at a time.
 *
 * @param document whose file it is, and who owns it.
 * @param use takes the text: the process ends after it.
 * @throws DocumentError, BusyError
 */
export async function readFile<T>(
  isolation: Isolation,
  document: Remote,
  file: FileToRead,
  use: (text: FileText) => Promise<T>,
  limits = LIMITS,
): Promise<T> {
  const { ms, megabytes, wholeMegabytes, characters } = limits;
  const work: Work<ExtractionMethods> = {
    module: new URL("apart/extraction.js", import.meta.url),
    // The time of the call is what bounds it.
    ...{ megabytes, wholeMegabytes, busyMs: Number.POSITIVE_INFINITY, atOnce: 1 },
    ...{ asked: PIECE, answered: PART },
  };
  const { signal } = new AbortController();
  const ask = async (method: keyof ExtractionMethods, asked: Packed, patience: number): Promise<string> => {
    try {
      return (await isolation.call(work, document, method, asked, { ms: patience, signal })) as string;
    } catch (error) {
      throw told(error as Error, came?.type ?? "", limits);
    }
  };
  let came: FetchAnswer | undefined;
  let release: (() => void) | undefined;
  try {
    if ("pieces" in file) {
      let bytes = 0;
      came = { type: file.type, bytes };
      for await (const piece of file.pieces) {
        await ask("add", Uint8Array.from(piece), PIECE_MS);
        release ??= isolation.keep(work, document);
        bytes += piece.length;
      }
      came = { type: file.type, bytes };
    } else came = JSON.parse(await ask("fetch", JSON.stringify(file), FETCH_MS)) as FetchAnswer;
    release ??= isolation.keep(work, document);
    const { type, bytes: fileBytes } = came;
    const question: ReadQuestion = { type, characters };
    const answer = JSON.parse(await ask("read", JSON.stringify(question), ms)) as ReadAnswer;
    return await use({ ...answer, type, fileBytes, part: (n) => ask("part", String(n), PIECE_MS) });
  } finally {
    release?.();
    isolation.end(work, document);
  }
}

/** @param type "" where it is not known, because the file did not come. */
function told(error: Error, type: DocumentType | "", { ms, characters }: ExtractionLimits): Error {
  if (error instanceof BusyError) return error;
  if (error instanceof KilledError) return new BusyError(error.message);
  const { name, message } = error;
  if (name === LOST) return new BusyError("the process that read the file ended: its place was needed");
  if (message.endsWith("characters of text"))
    return new DocumentError(`it has more than ${characters} characters of text: divide it into several files`);
  if (type === "")
    return new DocumentError(
      `it cannot be read from its url: ${message.slice(0, 300)}`,
      name === PASSING || error instanceof MisbehavedError,
    );
  if (!(error instanceof MisbehavedError))
    return new DocumentError(`it cannot be read as ${type}: ${message.slice(0, 200)}`);
  if (error.misbehaviour === "slow")
    return new DocumentError(`it takes more than ${ms / 1_000} seconds to read: divide it into several files`);
  return new DocumentError("it takes too much memory to read: divide it into several files");
}

/** As the modules of the process say it, which this one does not load. */
const [LOST, PASSING] = ["LostError", "PassingError"];
