import type { Database, RootDatabase } from "lmdb";
import { GroupCommit } from "../../process/group-commit.js";
import { told } from "./commit.js";
import { documentsOf } from "./environment.js";
import { Journal, type JournalOptions } from "./journal.js";
import { journalPaths } from "./journal-files.js";
import type { Entry } from "./journal-frame.js";
import { JournalMark } from "./journal-mark.js";
import { asStored, type Stored } from "./stored.js";
import { idKey } from "./values.js";

/** The name of their journal: no collection has it. */
const NAME = "_replaced";
/** Documents that may wait, and the longest that may, in bytes: together no more than 32 MB. */
const MOST_WAITING = 2_000;
const MAX_BYTES = 16 * 1024;
/** Documents that a transaction writes: of the longest these hold the event loop for about 3 ms. */
const AT_ONCE = 200;

/**
 * The next versions of documents of an environment that are on disk in a journal, and in the environment soon. Readers
 * of a document look here first. They change no entry of an index, so that queries find the same ids.
 */
export class Replacements {
  /** By collection and id. */
  readonly #waiting = new Map<string, Map<string, Buffer>>();
  /** The documents of collections. */
  readonly #documents = new Map<string, Database<Stored, Buffer>>();
  #held = 0;
  #journal!: Journal;

  private constructor(private readonly root: RootDatabase) {}

  /** Opens the journal of an environment, and puts what it has into the environment first. */
  static async open(folder: string, root: RootDatabase, failed: JournalOptions["failed"]): Promise<Replacements> {
    const replacements = new Replacements(root);
    replacements.#journal = await Journal.open(folder, {
      paths: journalPaths(folder, NAME),
      mark: new JournalMark(root, NAME),
      most: MOST_WAITING,
      groupCommit: new GroupCommit(),
      atOnce: AT_ONCE,
      apply: (entries, move) => replacements.#apply(entries, move),
      written: (entries) => replacements.#written(entries),
      failed,
    });
    return replacements;
  }

  /** How many are on disk here, and not in the environment yet. */
  get size(): number {
    return this.#journal.size;
  }

  /** Whether the next version of a document may go this way. */
  takes({ bytes }: Entry): boolean {
    return this.#held === 0 && bytes.length <= MAX_BYTES;
  }

  /** The versions of a collection that wait here, by id. */
  of(collection: string): ReadonlyMap<string, Buffer> {
    return this.#of(collection);
  }

  /** Replaces a document by its next version; resolves when that is on disk, from when on it is found here. */
  replace(entry: Entry): Promise<void> {
    return this.#journal.append([entry]);
  }

  /** Begins at once to put into the environment what is on disk here: a transaction that begins next is after it. */
  flush(): void {
    // Who waits for it hears of a failure, and the journal's own timer.
    if (this.#journal.size > 0) this.#journal.flush().catch(() => undefined);
  }

  /** Resolves once what was replaced before is in the environment. */
  settle(): Promise<void> {
    return this.#journal.settle();
  }

  /** Runs something while nothing goes this way, and nothing is here. */
  async heldWhile<R>(run: () => Promise<R>): Promise<R> {
    this.#held++;
    try {
      await this.#journal.settle();
      return await run();
    } finally {
      this.#held--;
    }
  }

  /** What cannot go into the environment now does so at the next start. */
  close(): Promise<void> {
    return this.#journal.close();
  }

  #of(collection: string): Map<string, Buffer> {
    const there = this.#waiting.get(collection) ?? new Map<string, Buffer>();
    this.#waiting.set(collection, there);
    return there;
  }

  #written(entries: readonly Entry[]): void {
    for (const { collection, id, bytes } of entries) this.#of(collection).set(id, bytes);
  }

  /** Of several versions of a document the last. */
  async #apply(entries: readonly Entry[], move: () => boolean): Promise<void> {
    const last = new Map(entries.map((entry) => [`${entry.collection}/${entry.id}`, entry]));
    const puts = [...last.values()].map(({ collection, id, bytes }) => {
      const documents = this.#documentsOf(collection);
      return () => void documents.put(idKey(id), asStored(bytes));
    });
    const done = this.root.childTransaction(() => {
      if (move()) for (const put of puts) put();
    });
    await done.catch((error: unknown) => {
      throw told(error);
    });
    for (const { collection, id, bytes } of entries) {
      const there = this.#of(collection);
      // A later version stays.
      if (there.get(id) === bytes) there.delete(id);
    }
  }

  #documentsOf(collection: string): Database<Stored, Buffer> {
    const documents = this.#documents.get(collection) ?? documentsOf(this.root, { name: collection });
    this.#documents.set(collection, documents);
    return documents;
  }
}
