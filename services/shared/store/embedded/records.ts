import type { Database, RootDatabase } from "lmdb";
import type { Document } from "mongodb";
import { told } from "./commit.js";
import { DocumentWriter } from "./document-writer.js";
import { DuplicateKeyError } from "./duplicate-key-error.js";
import { encoderOf, readersOf } from "./environment.js";
import type { Entry } from "./journal-frame.js";
import { KeptDocuments } from "./kept-documents.js";
import { isScalar } from "./keys.js";
import { matcherOf } from "./matcher.js";
import type { Reading } from "./reading.js";
import type { Replacements } from "./replacements.js";
import { indexedId, type SecondaryIndex } from "./secondary-index.js";
import { asStored, type Stored } from "./stored.js";
import { idKey, idKeyOnce, isPlainId } from "./values.js";

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
  /** Transactions that wait before they begin, and when the last of them does; never rejects. */
  #held = 0;
  #lastBegins: Promise<void> = Promise.resolve();
  /** Whether another thread writes too. */
  #isShared = false;

  readonly #writer = new DocumentWriter();
  /** Documents as they are on disk. One that is being written is not here. */
  readonly #kept = new KeptDocuments();
  /** The next versions of documents that are on disk, and not in the collection yet. */
  readonly #waiting: ReadonlyMap<string, Buffer>;

  /** @param replacements of the environment, if it has a journal of them. */
  constructor(
    private readonly root: RootDatabase,
    readonly documents: Database<Stored, Buffer>,
    private readonly name: string,
    private readonly replacements?: Replacements,
  ) {
    this.#waiting = replacements?.of(name) ?? new Map();
  }

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
    this.#kept.clear();
    for (const index of this.indexes.values()) index.share();
  }

  /** Runs writes that happen together or, when one throws, not at all; resolves when they are on disk. */
  async transaction<R>(run: () => R): Promise<R> {
    this.#begun++;
    this.#underWay++;
    try {
      if (this.#held > 0 || this.#replacing.size > 0 || this.#waiting.size > 0) {
        // Down in the turn in which it begins, so that none comes in between.
        const turn = this.#turn();
        try {
          await turn;
        } finally {
          this.#held--;
        }
      }
      // In the order in which they were promised: nothing on disk is there without what was on disk before it.
      this.replacements?.flush();
      return await this.root.childTransaction(() => {
        // At once, because the next transaction may run before a rejection is heard of.
        try {
          return run();
        } catch (error) {
          this.#undone();
          throw error;
        }
      });
    } catch (error) {
      this.#undone();
      throw told(error);
    } finally {
      this.#underWay--;
    }
  }

  /**
   * Waits until what a transaction reads is in the collection: since it was asked for, no document is replaced without a
   * transaction. Transactions begin in the order in which they were asked for.
   */
  #turn(): Promise<void> {
    this.#held++;
    const turn = this.#lastBegins.then(() => this.replacements?.settle());
    this.#lastBegins = turn.catch(() => undefined);
    return turn;
  }

  #undone(): void {
    for (const index of this.indexes.values()) index.undone();
  }

  /** Whether a document is what is on disk, and nobody is about to write it: what is decided now need not be in a transaction. */
  isSettled(id: string): boolean {
    return this.#underWay === 0 && !this.#isShared && !this.#replacing.has(id);
  }

  /**
   * Outside of a transaction, in the turn in which {@link isSettled} was asked: replaces a document by its next version.
   *
   * @returns what resolves when it is on disk; undefined, and nothing is done, if an entry of an index would change.
   */
  replace(before: Stored, after: Stored): Promise<unknown> | undefined {
    for (const index of this.indexes.values()) if (!index.keepsKeys(before, after)) return undefined;
    const { _id } = after;
    const written = this.#put(after);
    if (written === undefined) return undefined;
    this.#begun++;
    this.#kept.forget(_id);
    this.#replacing.add(_id);
    return written.finally(() => this.#replacing.delete(_id));
  }

  /** By the journal, which takes no commit, or else by a put, which is before every transaction that begins later. */
  #put(after: Stored): Promise<unknown> | undefined {
    const { _id: id } = after;
    const entry = this.entryOf(after);
    if (this.replacements?.takes(entry)) return this.replacements.replace(entry);
    // What waits would be written over what is put.
    if (this.#waiting.has(id)) return undefined;
    return this.documents.put(idKey(id), asStored(entry.bytes)).catch((error: unknown) => {
      throw told(error);
    });
  }

  /** A document for a journal. */
  entryOf(document: Stored): Entry {
    const bytes = this.#writer.write(document) ?? Buffer.from(encoderOf(this.documents).encode(document));
    return { collection: this.name, id: document._id, bytes };
  }

  /** The document of bytes that are stored, or of an entry. */
  documentOf(bytes: Buffer): Stored {
    return readersOf(this.documents).decode(bytes) as Stored;
  }

  /** A document, which is the reader's own. */
  byId(id: string): Stored | undefined {
    const kept = this.#kept.get(id);
    if (kept !== undefined) return kept;
    const bytes = this.#bytesOf(id);
    if (bytes === undefined) return undefined;
    const size = bytes.length;
    const document = this.documentOf(bytes);
    if (this.isSettled(id)) this.#kept.keep(document, size);
    return document;
  }

  /** Bytes that are good until the next reading. */
  #bytesOf(id: string): Buffer | undefined {
    return this.#waiting.get(id) ?? this.documents.getBinaryFast(idKeyOnce(id));
  }

  /** The document that the collection has, or the next version of it. */
  latest(document: Stored): Stored {
    return this.#waiting.has(document._id) ? (this.byId(document._id) as Stored) : document;
  }

  has(id: string): boolean {
    return this.documents.doesExist(idKeyOnce(id));
  }

  /** What a reading makes of a document; undefined where there is none. */
  read(id: string, reading: Reading): Document | undefined {
    const bytes = this.#bytesOf(id);
    return bytes === undefined ? undefined : reading(bytes);
  }

  /**
   * Inside a transaction: everything is checked before anything is written, so that a refusal leaves nothing.
   *
   * @param bytes of the document after, if it was encoded already.
   */
  write(before: Stored | undefined, after: Stored | undefined): void {
    if (!before && after && this.has(after._id)) throw new DuplicateKeyError("_id_", { _id: 1 });
    const id = (after ?? before)?._id as string;
    const key = idKey(id);
    this.#kept.forget(id);
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

  /** Inside a transaction: inserts a document that was encoded already. Its id is new, and no index is unique. */
  addNew(document: Stored, bytes: Buffer): void {
    const id = indexedId(document._id);
    for (const index of this.indexes.values()) index.insert(document, id);
    void this.documents.put(idKeyOnce(document._id), asStored(bytes));
  }

  /** The highest id of a document: "" if the collection is empty, undefined if its keys are not in the order of their ids. */
  highestId(): string | undefined {
    for (const { value } of this.documents.getRange({ reverse: true, limit: 1 }))
      return isPlainId(value._id) ? value._id : undefined;
    return "";
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
