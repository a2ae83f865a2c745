import type { Isolation, Remote, Work } from "../../shared/isolation/isolation.js";
import { MisbehavedError } from "../../shared/isolation/misbehaved.js";
import { BusyError } from "../../shared/isolation/turns.js";
import type { ExtractionMethods } from "./apart/extraction.js";
import { DocumentError } from "./document-error.js";
import type { DocumentType } from "./records.js";

/** Types whose text is taken out of a file. */
export type FileType = Exclude<DocumentType, "text" | "markdown">;

/** How long one file may take, and the heap it may take. */
export interface ExtractionLimits {
  readonly ms: number;
  readonly megabytes: number;
  /** Memory, all of it: what is unpacked is beside the heap. */
  readonly wholeMegabytes: number;
  /** Characters of text that may come of it. */
  readonly characters: number;
}

/** Bytes of a file. */
const MAX_FILE = 4 * 2 ** 20;
const LIMITS: ExtractionLimits = { ms: 30_000, megabytes: 512, wholeMegabytes: 1_024, characters: 2 ** 21 };

/**
 * The text of a file. Each file has a process of its own, which ends with it: what
 * a hostile file does to a parser, it does there.
 *
 * @param document whose file it is, and who owns it.
 * @throws DocumentError, BusyError
 */
export async function textOfFile(
  isolation: Isolation,
  document: Remote,
  { type, file }: { readonly type: FileType; readonly file: Uint8Array },
  limits = LIMITS,
): Promise<string> {
  const { ms, megabytes, wholeMegabytes, characters } = limits;
  const work: Work<ExtractionMethods> = {
    module: new URL("apart/extraction.js", import.meta.url),
    // The time of the call is what bounds it.
    ...{ megabytes, wholeMegabytes, busyMs: Number.POSITIVE_INFINITY, atOnce: 1, once: true },
    ...{ asked: MAX_FILE, answered: characters },
  };
  const never = new AbortController().signal;
  try {
    return (await isolation.call(work, document, type, Uint8Array.from(file), { ms, signal: never })) as string;
  } catch (error) {
    if (error instanceof BusyError) throw error;
    const { message } = error as Error;
    if (!(error instanceof MisbehavedError))
      throw new DocumentError(`it cannot be read as ${type}: ${message.slice(0, 200)}`);
    if (error.misbehaviour === "slow")
      throw new DocumentError(`it takes more than ${ms / 1_000} seconds to read: divide it into several files`);
    if (message.endsWith("characters"))
      throw new DocumentError(`it has more than ${characters} characters of text: divide it into several files`);
    throw new DocumentError("it takes too much memory to read: divide it into several files");
  }
}
