import { close, constants, existsSync, ftruncate, openSync, readFileSync, write } from "node:fs";
import { promisify } from "node:util";
import { unavailable } from "../../rpc/errors.js";
import { documentsIn, frameOf } from "./journal-frame.js";
import type { Stored } from "./records.js";
import { toDisk } from "./to-disk.js";

/** How long documents wait for others before they go into their collection, in milliseconds. */
const APPLY_MS = 100;
/** How long after a failure it is tried again, in milliseconds. */
const AGAIN_MS = 1_000;
/** Documents that may wait: more wait until the collection has these, and are refused if it does not take them. */
const MOST_WAITING = 20_000;
/** A write ends once its bytes are on disk: one system call, where a write and a sync are two. */
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_DSYNC;

const [writeTo, truncate, closeFile] = [promisify(write), promisify(ftruncate), promisify(close)];

/** Where a collection's documents go. */
export interface JournalOptions {
  /** The files of its journal. */
  readonly paths: readonly [string, string];
  /** Whether the collection has a document of this id. */
  readonly has: (id: string) => boolean;
  /** Puts documents into the collection, except those that it has already; resolved means on disk. */
  readonly apply: (documents: readonly Stored[]) => Promise<void>;
  /** Hears why documents cannot be put into it; they are kept, and it is tried again. */
  readonly failed: (error: unknown) => void;
}

/** A file, and where its next frame goes. */
interface Part {
  readonly fd: number;
  length: number;
}

/** Documents on their way into the collection, and the file that has them until they are there. */
interface Leaving {
  readonly part: Part;
  readonly documents: readonly Stored[];
}

/**
 * Documents that are on disk and not in their collection yet. To append them to a file costs a fraction of a commit
 * with its indexes; they go into the collection many at a time, and after a crash at the next start. Two files take
 * turns: one takes new documents while those of the other go into the collection.
 */
export class Journal {
  #current: Part;
  #spare: Part;
  /** In the current file. */
  #waiting: Stored[] = [];
  #leaving: Leaving | undefined;
  /** Of the documents that wait, and of those that are leaving. */
  readonly #ids = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #appending: Promise<unknown> = Promise.resolve();
  #applying: Promise<unknown> = Promise.resolve();

  private constructor(private readonly options: JournalOptions) {
    const [current, spare] = options.paths.map((path) => ({ fd: openSync(path, FLAGS, 0o600), length: 0 }));
    this.#current = current as Part;
    this.#spare = spare as Part;
  }

  /** How many documents are on disk here, and not in their collection yet. */
  get size(): number {
    return this.#ids.size;
  }

  /** Opens a journal, and puts what it has into the collection first. */
  static async open(folder: string, options: JournalOptions): Promise<Journal> {
    for (const path of options.paths.filter(existsSync)) await options.apply(documentsIn(readFileSync(path)));
    const journal = new Journal(options);
    toDisk(folder);
    return journal;
  }

  /**
   * Appends documents, up to the first whose id is there already. Resolves, once they are on disk, to how many these are.
   *
   * @throws ConnectError unavailable, if the disk takes no more.
   */
  async append(documents: readonly Stored[]): Promise<number> {
    if (this.#ids.size >= MOST_WAITING) await this.settle();
    const done = this.#appending.then(() => this.#append(documents));
    this.#appending = done.catch(() => undefined);
    return done;
  }

  /** Resolves once the collection has what was appended before. @throws if it takes no documents. */
  settle(): Promise<void> {
    if (this.#waiting.length === 0 && this.#leaving === undefined) return Promise.resolve();
    const done = this.#applying.then(() => this.#applyAll());
    this.#applying = done.catch(() => undefined);
    return done;
  }

  /** What cannot go into the collection now does so at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#appending;
    await this.settle().catch(this.options.failed);
    for (const { fd } of [this.#current, this.#spare]) await closeFile(fd);
  }

  async #append(documents: readonly Stored[]): Promise<number> {
    const known = documents.findIndex(({ _id }) => this.#ids.has(_id) || this.options.has(_id));
    const added = known === -1 ? documents : documents.slice(0, known);
    if (added.length === 0) return 0;
    const part = this.#current;
    const frame = frameOf(added);
    try {
      const { bytesWritten } = await writeTo(part.fd, frame, 0, frame.length, part.length);
      if (bytesWritten < frame.length) throw new Error(`${bytesWritten} of ${frame.length} bytes were written`);
    } catch (error) {
      // The next frame is written over what there is of this one.
      throw full(error);
    }
    part.length += frame.length;
    for (const document of added) {
      this.#waiting.push(document);
      this.#ids.add(document._id);
    }
    this.#applyAfter(APPLY_MS);
    return added.length;
  }

  #applyAfter(ms: number): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.settle().catch((error: unknown) => {
        this.options.failed(error);
        this.#applyAfter(AGAIN_MS);
      });
    }, ms).unref();
  }

  async #applyAll(): Promise<void> {
    if (this.#leaving !== undefined) await this.#apply(this.#leaving);
    // Between two appends: what is being appended belongs to the file that it goes to.
    this.#appending = this.#appending.then(() => {
      if (this.#waiting.length === 0) return;
      this.#leaving = { part: this.#current, documents: this.#waiting };
      this.#waiting = [];
      [this.#current, this.#spare] = [this.#spare, this.#current];
    });
    await this.#appending;
    if (this.#leaving !== undefined) await this.#apply(this.#leaving);
  }

  async #apply({ part, documents }: Leaving): Promise<void> {
    await this.options.apply(documents);
    await truncate(part.fd, 0);
    part.length = 0;
    for (const { _id } of documents) this.#ids.delete(_id);
    this.#leaving = undefined;
  }
}

function full(cause: unknown): Error {
  return unavailable("the store cannot write to its disk now; ask an administrator to free space on it", cause);
}
