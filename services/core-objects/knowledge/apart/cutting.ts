import { serveThread } from "../../../shared/process/thread.js";
import { type Cut, cutOf, type Part } from "../cut.js";

const methods = {
  /** Cuts a part of a text into passages: some seconds for the largest. */
  cut: (part: Part): Cut => cutOf(part),
};

/** What the thread answers to. */
export type CuttingMethods = typeof methods;

serveThread(methods);
