import { setImmediate as nextTurn } from "node:timers/promises";
import type { Thread } from "../../shared/process/asked.js";
import type { DocCollection } from "../../shared/store/store.js";
import type { RankingMethods } from "./apart/ranking.js";
import type { Searchable } from "./apart/searchable.js";
import { readBlocks, termsOf } from "./read-blocks.js";
import type { BlockRecord, DocumentRecord, ServingRecord } from "./records.js";

/** Memory of the words of a block, in bytes for each byte of its terms. */
const WORDS = 4;
/** Passages that go to the thread at a time, about; it takes them in while the next are read. */
const AT_ONCE = 400;
/** The revision of a knowledge base that is not in memory as a whole: no knowledge base has it. */
const NOT_LOADED = " ";

/** A knowledge base as it was when it was read. */
export interface Revised {
  readonly id: string;
  readonly revision: string;
}

/** A knowledge base in memory. */
export interface HeldBase {
  /** Of the knowledge base, when its documents were looked at. */
  revision: string;
  readonly documents: Map<string, HeldDocument>;
  passages: number;
  /** About. */
  bytes: number;
}

/** A document in memory. */
export interface HeldDocument {
  readonly stamp: string;
  readonly generation: number;
  /** "" and 0 as long as it is found by its words alone. */
  readonly embedder: string;
  readonly dimensions: number;
  readonly passages: number;
  readonly bytes: number;
}

/** A document as it goes to the thread. */
interface Read extends Pick<HeldDocument, "dimensions" | "bytes"> {
  readonly searchable: Searchable;
}

/** What {@link HeldBases} reads and fills. */
export interface HeldBasesParts {
  readonly documents: DocCollection<DocumentRecord>;
  readonly blocks: DocCollection<BlockRecord>;
  readonly thread: Thread<RankingMethods>;
  /** Bytes that are held at most, unless one knowledge base alone is larger. */
  readonly room: number;
}

/** The knowledge bases that the ranking thread holds: those that were asked last. */
export class HeldBases {
  /** In the order in which they were last asked. */
  readonly #known = new Map<string, HeldBase>();
  readonly #loading = new Map<string, Promise<unknown>>();

  constructor(private readonly parts: HeldBasesParts) {}

  /** One that is in memory as a whole. */
  get(id: string): HeldBase | undefined {
    const one = this.#known.get(id);
    return one?.revision === NOT_LOADED ? undefined : one;
  }

  /** Bytes of all of them, about. */
  get bytes(): number {
    let bytes = 0;
    for (const one of this.#known.values()) bytes += one.bytes;
    return bytes;
  }

  /** Forgets all of them: the thread ended. */
  clear(): void {
    this.#known.clear();
  }

  /**
   * Brings what is in memory of a knowledge base to what is in the store.
   *
   * @param again also if it is of that revision.
   * @returns undefined if others needed the memory meanwhile.
   */
  async load({ id, revision }: Revised, again: boolean): Promise<HeldBase | undefined> {
    while (again || this.#known.get(id)?.revision !== revision) {
      const under = this.#loading.get(id);
      if (under !== undefined) {
        await under;
        continue;
      }
      const now = this.#refresh(id, revision);
      this.#loading.set(id, now);
      try {
        await now;
        break;
      } finally {
        this.#loading.delete(id);
      }
    }
    const one = this.#known.get(id);
    if (one === undefined) return undefined;
    this.#known.delete(id);
    this.#known.set(id, one);
    return one;
  }

  async #refresh(id: string, revision: string): Promise<void> {
    const { documents, thread } = this.parts;
    const one = this.#known.get(id) ?? { revision: NOT_LOADED, documents: new Map(), passages: 0, bytes: 0 };
    this.#known.set(id, one);
    const gone = new Set(one.documents.keys());
    let waiting: Read[] = [];
    let taken = Promise.resolve();
    const send = async (): Promise<void> => {
      const [before, some] = [taken, waiting];
      waiting = [];
      const moved = some.flatMap(({ searchable: { vectors, terms } }) => [vectors, ...terms]);
      taken = thread.call(
        "put",
        { base: id, some: some.map(({ searchable }) => searchable) },
        moved.map(({ buffer }) => buffer as ArrayBuffer),
      );
      // Who waits for it hears of it, also if that is later.
      taken.catch(() => {});
      await before;
    };
    for await (const document of documents.find({ knowledge_base: id }, { sort: { _id: -1 }, hint: "base" })) {
      const { _id, name, serving, state } = document;
      if (serving === null || state === "leaving") continue;
      gone.delete(_id);
      const stamp = `${serving.generation} ${name}`;
      const held = one.documents.get(_id);
      if (held?.stamp === stamp && held.embedder === serving.embedder) continue;
      // Others have their turn between any two documents.
      await nextTurn();
      if (held?.stamp === stamp && held.embedder === "") {
        const added = await this.#addVectors(id, document, serving);
        if (this.#known.get(id) !== one) break;
        if (added !== undefined) note(one, _id, { ...held, ...added, bytes: held.bytes + added.bytes });
        continue;
      }
      const there = await this.#read(id, document, serving);
      if (this.#known.get(id) !== one) break;
      if (there === undefined) continue;
      const { dimensions, bytes } = there;
      note(one, _id, { stamp, ...serving, dimensions, bytes });
      waiting.push(there);
      if (waiting.reduce((sum, { searchable }) => sum + searchable.passages, 0) >= AT_ONCE) await send();
    }
    if (waiting.length > 0) await send();
    await taken;
    // The thread may have ended, or others needed the memory meanwhile.
    if (this.#known.get(id) !== one) return thread.call("drop", id);
    for (const document of gone) {
      note(one, document, undefined);
      await thread.call("remove", { base: id, document });
    }
    if (this.#known.get(id) === one) one.revision = revision;
  }

  /** @returns undefined if the document was revised meanwhile: the next revision of the knowledge base says so. */
  async #read(
    base: string,
    { _id: document, name }: DocumentRecord,
    serving: ServingRecord,
  ): Promise<Read | undefined> {
    const { thread } = this.parts;
    let [terms, passages, bytes, isStaged] = [[] as Uint8Array[], 0, 0, false];
    const read = await readBlocks(this.parts, document, serving, async (block) => {
      if (passages >= AT_ONCE) {
        const portion = { base, document, name, terms, isFirst: !isStaged };
        const moved = terms.map(({ buffer }) => buffer as ArrayBuffer);
        [terms, passages, isStaged] = [[], 0, true];
        await thread.call("stage", portion, moved);
      }
      const ofBlock = await termsOf(this.parts, block);
      terms.push(ofBlock);
      passages += block.passages.length;
      bytes += WORDS * ofBlock.length;
    });
    if (read === undefined) {
      if (isStaged) await thread.call("unstage", { base, document });
      return undefined;
    }
    const { dimensions, vectors } = read;
    bytes += vectors.byteLength;
    await this.#makeRoom(base, bytes);
    const { generation, embedder, passages: count } = serving;
    const searchable = { document, name, generation, embedder, passages: count, terms, vectors, isStaged };
    return { searchable, dimensions, bytes };
  }

  /** Brings the vectors of a document whose words are in memory. @returns undefined if it was revised meanwhile. */
  async #addVectors(
    base: string,
    { _id: document }: DocumentRecord,
    serving: ServingRecord,
  ): Promise<Pick<HeldDocument, "embedder" | "dimensions" | "bytes"> | undefined> {
    const read = await readBlocks(this.parts, document, serving);
    if (read === undefined) return undefined;
    const { vectors, dimensions } = read;
    const { generation, embedder } = serving;
    const bytes = vectors.byteLength;
    await this.#makeRoom(base, bytes);
    await this.parts.thread.call("embed", { base, document, generation, embedder, vectors, dimensions }, [
      vectors.buffer as ArrayBuffer,
    ]);
    return { embedder, dimensions, bytes };
  }

  /** Drops the knowledge bases that were asked longest ago, until one has room to grow. */
  async #makeRoom(kept: string, grows: number): Promise<void> {
    let bytes = this.bytes + grows;
    for (const [id, one] of [...this.#known]) {
      if (bytes <= this.parts.room) return;
      if (id === kept || this.#known.get(id) !== one) continue;
      bytes -= one.bytes;
      this.#known.delete(id);
      await this.parts.thread.call("drop", id);
    }
  }
}

/** Puts a document in the place of what was held of it; undefined takes it out. */
function note(base: HeldBase, document: string, next: HeldDocument | undefined): void {
  const before = base.documents.get(document);
  base.passages += (next?.passages ?? 0) - (before?.passages ?? 0);
  base.bytes += (next?.bytes ?? 0) - (before?.bytes ?? 0);
  if (next === undefined) base.documents.delete(document);
  else base.documents.set(document, next);
}
