import type { Log } from "../../shared/process/log.js";
import { DocumentError, HeldUpError } from "./document-error.js";
import { EmbedderError } from "./embedder.js";
import type { Knowledge } from "./knowledge.js";
import { type DocumentRecord, IN_WORK } from "./records.js";

/** How long a process that is silent keeps a document, in milliseconds, if nothing else is set. */
export const LEASE_MS = 10_000;
/** Times that a document is tried before it failed, about six minutes in all. */
const ATTEMPTS = 8;
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 120_000;
/** How long a document that is held up waits until it is looked at again, in milliseconds. */
const HELD_UP_MS = 120_000;

/** A document that this process works on: it stays with the process until it is stopped. */
export class Claimed {
  readonly #timer: NodeJS.Timeout;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly knowledge: Knowledge,
    private readonly document: DocumentRecord,
    private readonly log: Log,
  ) {
    const { leaseMs = LEASE_MS } = knowledge.options;
    this.#timer = setInterval(() => this.#prolong(leaseMs), leaseMs / 3).unref();
  }

  #prolong(leaseMs: number): void {
    const { _id, claim } = this.document;
    const due = { $set: { due: new Date(Date.now() + leaseMs) } };
    this.#last = this.knowledge.documents
      .updateOne({ _id, claim, due: { $ne: null } }, due)
      .catch((error: unknown) =>
        this.log.warn({ err: error, document: _id }, "the lease of a document cannot be renewed"),
      );
  }

  /** Keeps it no longer. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#last;
  }

  /** Gives it back, behind the other documents of its owner. */
  async release(): Promise<void> {
    await this.#write({ due: new Date(), attempts: 0, problem: "" });
  }

  /** Says why it is not searchable yet, and when it is tried again, if it is. */
  async failed(error: Error): Promise<void> {
    const { _id, attempts } = this.document;
    const { firstWaitMs = FIRST_WAIT_MS, heldUpMs = HELD_UP_MS } = this.knowledge.options;
    if (error instanceof HeldUpError)
      return this.#write({ problem: error.message, due: new Date(Date.now() + heldUpMs) });
    const isOurs = !(error instanceof DocumentError || error instanceof EmbedderError);
    if (isOurs) this.log.error({ err: error, document: _id }, "a document could not be made searchable");
    const isPassing = isOurs || (error as DocumentError | EmbedderError).isPassing;
    const isOver = !isPassing || attempts + 1 >= ATTEMPTS;
    const wait = Math.min(LONGEST_WAIT_MS, firstWaitMs * 2 ** attempts);
    const problem = isOurs
      ? "it cannot be made searchable at the moment: an administrator finds the cause in the log of the service"
      : error.message;
    const after = isOver ? { state: "failed" as const, due: null } : { due: new Date(Date.now() + wait) };
    await this.#write({ ...after, problem, attempts: attempts + 1 });
  }

  async #write(set: Partial<DocumentRecord>): Promise<void> {
    const { _id, claim, generation } = this.document;
    await this.knowledge.documents.updateOne({ _id, claim, generation, state: IN_WORK }, { $set: set });
  }
}
