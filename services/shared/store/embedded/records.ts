import type { Database, RootDatabase } from "lmdb";
import type { Document } from "mongodb";
import { told } from "./commit.js";
import { DuplicateKeyError } from "./duplicate-key-error.js";
import { isScalar } from "./keys.js";
import { matcherOf } from "./matcher.js";
import type { Reading } from "./reading.js";
import type { SecondaryIndex } from "./secondary-index.js";
import { idKey, idKeyOnce } from "./values.js";

/** A document as it is stored. */
export type Stored = Document & { _id: string };

/** What becomes of the keys of a document in one index. */
interface Change {
  readonly index: SecondaryIndex;
  readonly from: readonly Buffer[];
  readonly to: readonly Buffer[];
}

/** The documents of a collection and the entries that its indexes hold of them: always both or neither. */
export class Records {
  readonly indexes = new Map<string, SecondaryIndex>();
  /** Writes that have begun; of those the transactions under way, and the ids of documents that are being replaced. */
  #begun = 0;
  #underWay = 0;
  readonly #replacing = new Set<string>();
  /** Whether another thread writes too. */
  #isShared = false;

  constructor(
    private readonly root: RootDatabase,
    readonly documents: Database<Stored, Buffer>,
  ) {}

  get count(): number {
    return (this.documents.getStats() as { entryCount: number }).entryCount;
  }

  /** Another number after each write; undefined while one is under way, or where another thread may write. */
  get version(): number | undefined {
    return this.#underWay > 0 || this.#replacing.size > 0 || this.#isShared ? undefined : this.#begun;
  }

  /** From now on another thread of the process writes too. */
  share(): void {
    this.#isShared = true;
    for (const index of this.indexes.values()) index.share();
  }

  /** Runs writes that happen together or, when one throws, not at all; resolves when they are on disk. */
  transaction<R>(run: () => R): Promise<R> {
    const undo = (error: unknown): never => {
      for (const index of this.indexes.values()) index.undone();
      throw error;
    };
    this.#begun++;
    this.#underWay++;
    return this.root
      .childTransaction(() => {
        // At once, because the next transaction may run before a rejection is heard of.
        try {
          return run();
        } catch (error) {
          return undo(error);
        }
      })
      .catch((error: unknown) => undo(told(error)))
      .finally(() => {
        this.#underWay--;
      });
  }

  /** Whether a document is what is on disk, and nobody is about to write it: what is decided now need not be in a transaction. */
  isSettled(id: string): boolean {
    return this.#underWay === 0 && !this.#isShared && !this.#replacing.has(id);
  }

  /**
   * Outside of a transaction, in the turn in which {@link isSettled} was asked: replaces a document by its next version.
   * Two hand-overs between threads less than a transaction, which waits for this thread before it commits.
   *
   * @returns what resolves when it is on disk; undefined, and nothing is done, if an entry of an index would change.
   */
  replace(before: Stored, after: Stored): Promise<unknown> | undefined {
    for (const index of this.indexes.values()) if (!index.keepsKeys(before, after)) return undefined;
    const { _id } = after;
    this.#begun++;
    this.#replacing.add(_id);
    return this.documents
      .put(idKey(_id), after)
      .catch((error: unknown) => {
        throw told(error);
      })
      .finally(() => this.#replacing.delete(_id));
  }

  byId(id: string): Stored | undefined {
    return this.documents.get(idKeyOnce(id));
  }

  has(id: string): boolean {
    return this.documents.doesExist(idKeyOnce(id));
  }

  /** What a reading makes of a document; undefined where there is none. */
  read(id: string, reading: Reading): Document | undefined {
    const bytes = this.documents.getBinaryFast(idKeyOnce(id));
    return bytes === undefined ? undefined : reading(bytes);
  }

  /** Inside a transaction: everything is checked before anything is written, so that a refusal leaves nothing. */
  write(before: Stored | undefined, after: Stored | undefined): void {
    const id = (after ?? before)?._id as string;
    const key = idKey(id);
    if (!before && this.documents.doesExist(key)) throw new DuplicateKeyError("_id_", { _id: 1 });
    const changes: Change[] = [];
    for (const index of this.indexes.values()) {
      if (before && after && index.keepsKeys(before, after)) continue;
      const [from, to] = [index.keysOf(before), index.keysOf(after)];
      if (after) index.check(after, to);
      changes.push({ index, from, to });
    }
    for (const { index, from, to } of changes) index.replace(id, from, to);
    if (after) void this.documents.put(key, after);
    else void this.documents.remove(key);
  }

  /** The document that a filter names by its id, or by a unique index alone: null when there is none that matches. */
  direct(filter: Document): Stored | null | undefined {
    const { _id } = filter;
    const names = Object.keys(filter);
    if (typeof _id === "string") {
      const named = this.byId(_id);
      return named !== undefined && (names.length === 1 || matcherOf(filter)(named)) ? named : null;
    }
    for (const index of this.indexes.values()) {
      if (!index.unique || !index.complete || index.fields.length !== names.length) continue;
      const values = index.fields.map(({ path }) => filter[path]);
      if (!values.every((value) => isScalar(value) && value !== null)) continue;
      const id = index.database.get(Buffer.concat(values.map((value, i) => index.part(i, value))));
      return id === undefined ? null : (this.byId(id) ?? null);
    }
    return undefined;
  }
}
