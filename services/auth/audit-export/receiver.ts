import type { ExportedRecord } from "./record.js";

/** What takes the records of the audit elsewhere. */
export interface AuditReceiver {
  /**
   * Takes records, in the order of their numbers; resolved means that the receiver has them. It may be given again
   * what it was given before, if that was not certain.
   *
   * @throws Error that says why they are not there, or may not be.
   */
  send(records: readonly ExportedRecord[], signal: AbortSignal): Promise<void>;
}

/** How long a receiver may take for one delivery, in milliseconds. */
export const SEND_MS = 15_000;
