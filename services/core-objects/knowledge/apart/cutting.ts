import { serveThread } from "../../../shared/process/thread.js";
import { type Cut, cutOf } from "../cut.js";
import type { DocumentType } from "../records.js";

const methods = {
  /** Cuts a text into passages: some seconds for the largest. */
  cut: ({ text, type }: { readonly text: string; readonly type: DocumentType }): Cut => cutOf(text, type),
};

/** What the thread answers to. */
export type CuttingMethods = typeof methods;

serveThread(methods);
