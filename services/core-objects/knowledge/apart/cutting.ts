import { serveThread } from "../../../shared/process/thread.js";
import { type Cut, cutOf, type Part } from "../cut.js";
import { plainTextOf } from "./charset.js";

const methods = {
  /** Cuts a part of a text into passages: some seconds for the largest. */
  cut: (part: Part): Cut => cutOf(part),

  /** The text of a file that has nothing but text. @throws Error for what is no text. */
  plain: (file: Uint8Array): string => plainTextOf(file),
};

/** What the thread answers to. */
export type CuttingMethods = typeof methods;

serveThread(methods);
