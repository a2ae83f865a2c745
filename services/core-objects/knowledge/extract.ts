import { createThread, ThreadEndedError } from "../../shared/process/thread.js";
import { DocumentError } from "./document-error.js";
import type { DocumentType } from "./records.js";
import type { ExtractionMethods } from "./threads/extraction.js";

/** Types whose text is taken out of a file. */
export type FileType = Exclude<DocumentType, "text" | "markdown">;

/** How long one file may take, and the heap it may take. */
export interface ExtractionLimits {
  readonly ms: number;
  readonly megabytes: number;
  /** What the process may grow by meanwhile: what is unpacked is beside the heap. */
  readonly grownMegabytes: number;
  /** Characters of text that may come of it. */
  readonly characters: number;
}

/** How often a thread is looked at. */
const WATCHED_MS = 50;
const LIMITS: ExtractionLimits = { ms: 30_000, megabytes: 512, grownMegabytes: 1_024, characters: 2 ** 21 };

/**
 * The text of a file. Each file has a thread of its own, which ends with it: what
 * a hostile file does to a parser, it does there.
 *
 * @throws DocumentError
 */
export async function textOfFile(type: FileType, file: Uint8Array, limits = LIMITS): Promise<string> {
  const thread = createThread<ExtractionMethods>(new URL("threads/extraction.js", import.meta.url), {
    megabytes: limits.megabytes,
  });
  const [until, before] = [Date.now() + limits.ms, process.memoryUsage.rss()];
  let isLate = false;
  const timer = setInterval(
    () => {
      isLate = Date.now() >= until;
      if (isLate || process.memoryUsage.rss() - before > limits.grownMegabytes * 2 ** 20) void thread.close();
    },
    Math.min(WATCHED_MS, limits.ms),
  );
  try {
    const text = await thread.call(type, Uint8Array.from(file));
    if (text.length > limits.characters)
      throw new DocumentError(`there are more than ${limits.characters} characters of text in it: divide it`);
    return text;
  } catch (error) {
    if (error instanceof DocumentError) throw error;
    if (isLate) throw new DocumentError(`it takes more than ${limits.ms / 1_000} seconds to read: divide it`);
    if (error instanceof ThreadEndedError) throw new DocumentError("it takes more memory to read than a file may");
    throw new DocumentError(`it cannot be read as ${type}: ${(error as Error).message.slice(0, 200)}`);
  } finally {
    clearInterval(timer);
    await thread.close();
  }
}
