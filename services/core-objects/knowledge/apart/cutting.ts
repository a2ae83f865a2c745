import { serveThread } from "../../../shared/process/thread.js";
import { passagesOf } from "../passages.js";
import type { DocumentType, PassageRecord } from "../records.js";

const methods = {
  /** Cuts a text into passages: up to half a second for the largest. */
  cut: ({ text, type }: { readonly text: string; readonly type: DocumentType }): PassageRecord[] =>
    passagesOf(text, type),
};

/** What the thread answers to. */
export type CuttingMethods = typeof methods;

serveThread(methods);
