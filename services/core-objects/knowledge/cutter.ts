import { createThread } from "../../shared/process/thread.js";
import { passagesOf } from "./passages.js";
import type { DocumentType, PassageRecord } from "./records.js";
import type { CuttingMethods } from "./threads/cutting.js";

/** Characters of a text that is cut at once: some milliseconds at most. */
const SHORT = 16 * 1024;
/** Heap of the thread: a text of 2 MiB and its passages take a tenth of it. */
const MEGABYTES = 256;

/** Cuts texts into passages: long ones in a thread of their own. */
export interface Cutter {
  cut(text: string, type: DocumentType): Promise<PassageRecord[]>;
  close(): Promise<void>;
}

/** The thread starts when it is first needed. */
export function createCutter(): Cutter {
  const thread = createThread<CuttingMethods>(new URL("threads/cutting.js", import.meta.url), { megabytes: MEGABYTES });
  return {
    cut: async (text, type) => (text.length <= SHORT ? passagesOf(text, type) : thread.call("cut", { text, type })),
    close: () => thread.close(),
  };
}
