import { createThread } from "../../shared/process/thread.js";
import type { DocumentType, PassageRecord } from "./records.js";
import type { CuttingMethods } from "./threads/cutting.js";

/** Heap of the thread: a text of 2 MiB and its passages take a tenth of it. */
const MEGABYTES = 256;

/** Cuts texts into passages in a thread of its own. */
export interface Cutter {
  cut(text: string, type: DocumentType): Promise<PassageRecord[]>;
  close(): Promise<void>;
}

/** The thread starts when it is first needed. */
export function createCutter(): Cutter {
  const thread = createThread<CuttingMethods>(new URL("threads/cutting.js", import.meta.url), { megabytes: MEGABYTES });
  return {
    cut: (text, type) => thread.call("cut", { text, type }),
    close: () => thread.close(),
  };
}
