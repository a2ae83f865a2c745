import { closeSync, fstatSync, openSync, readSync } from "node:fs";

// The layout of an LMDB data file (mdb.c of LMDB 1.0 as lmdb-js ships it: data
// version 2, 64 bits, little endian). LMDB maps the file and believes what it
// finds there: a page beyond the end or a node beyond its page is a SIGBUS or a
// SIGSEGV of the whole process. So the file is checked before it is opened: its
// two heads, its length, and every page of every tree that they lead to.

/** What a store file must hold and does not. */
export class DamagedStoreError extends Error {}

const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const HEAD_BYTES = 168;
const PAGE_HEAD = 24;
const NODE_HEAD = 8;
const TREE_BYTES = 48;
const OVERFLOW_BYTES = 24;
const MAX_DEPTH = 32;
const NO_PAGE = 2n ** 64n - 1n;
const PAGE = { branch: 0x01, leaf: 0x02, overflow: 0x04, head: 0x08 } as const;
const NODE = { big: 0x01, tree: 0x02 } as const;
/** Flags of the free list, and with it of the environment: integer keys. */
const FREE_FLAGS = 0x08;

interface Tree {
  readonly padding: number;
  readonly flags: number;
  readonly depth: number;
  readonly branches: number;
  readonly leaves: number;
  readonly overflow: number;
  readonly entries: number;
  readonly root: bigint;
}

interface Head {
  readonly pageSize: number;
  readonly lastPage: number;
  readonly transaction: number;
  readonly free: Tree;
  readonly main: Tree;
}

/**
 * Checks that LMDB can read a data file without leaving it. What documents say
 * is not looked at. A file that another process writes meanwhile is not judged.
 *
 * @throws DamagedStoreError with what is wrong.
 */
export function checkDataFile(path: string): void {
  const file = openSync(path, "r");
  try {
    // Of a new environment nothing may have been written yet.
    if (fstatSync(file).size === 0) return;
    const before = newestOf(file);
    try {
      new Walk(file, before).all();
    } catch (error) {
      if (!(error instanceof DamagedStoreError) || newestOf(file).transaction === before.transaction) throw error;
    }
  } finally {
    closeSync(file);
  }
}

/** The head that LMDB goes by: that of the later transaction. */
function newestOf(file: number): Head {
  const first = headOf(file, 0);
  const second = headOf(file, first.pageSize);
  if (second.pageSize !== first.pageSize) throw new DamagedStoreError("its two meta pages contradict each other");
  // A compacted copy begins with the head of an empty store, which no transaction has written.
  const isCopy = first.transaction === 0;
  if (!isCopy && Math.abs(first.transaction - second.transaction) > 1) {
    throw new DamagedStoreError("its two meta pages are not from successive transactions");
  }
  return second.transaction > first.transaction ? second : first;
}

function headOf(file: number, at: number): Head {
  const head = Buffer.alloc(HEAD_BYTES);
  if (readSync(file, head, 0, HEAD_BYTES, at) < HEAD_BYTES) throw new DamagedStoreError("it ends within a meta page");
  const pageSize = head.readUInt32LE(48);
  const sane =
    head.readUInt16LE(18) === PAGE.head &&
    head.readUInt32LE(24) === MAGIC &&
    head.readUInt32LE(28) === DATA_VERSION &&
    head.readBigUInt64LE(32) === 0n &&
    head.readUInt16LE(52) === FREE_FLAGS &&
    pageSize >= 512 &&
    pageSize <= 65_536 &&
    (pageSize & (pageSize - 1)) === 0 &&
    (at === 0 || at === pageSize);
  if (!sane) throw new DamagedStoreError("its meta page is not that of a store");
  return {
    pageSize,
    lastPage: numberAt(head, 144),
    transaction: numberAt(head, 152),
    free: treeAt(head, 48),
    main: treeAt(head, 96),
  };
}

function treeAt(bytes: Buffer, at: number): Tree {
  return {
    padding: bytes.readUInt32LE(at),
    flags: bytes.readUInt16LE(at + 4),
    depth: bytes.readUInt16LE(at + 6),
    branches: numberAt(bytes, at + 8),
    leaves: numberAt(bytes, at + 16),
    overflow: numberAt(bytes, at + 24),
    entries: numberAt(bytes, at + 32),
    root: bytes.readBigUInt64LE(at + 40),
  };
}

/** Neither several values for a key nor keys of one size: what the store uses. */
function isPlain({ flags, padding }: Tree): boolean {
  return flags === 0 && padding === 0;
}

function numberAt(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at));
}

/** One reading of all trees; each page may be met once. */
class Walk {
  readonly #file: number;
  readonly #head: Head;
  readonly #pages: number;
  readonly #met: Uint8Array;
  /** Free pages after the end of the file: they are written before they are read. */
  #beyond = 0;

  constructor(file: number, head: Head) {
    this.#file = file;
    this.#head = head;
    const { lastPage, pageSize } = head;
    this.#pages = Math.min(lastPage + 1, Math.floor(fstatSync(file).size / pageSize));
    if (lastPage < 1 || !Number.isSafeInteger(lastPage * pageSize))
      throw new DamagedStoreError("its meta page states an impossible length");
    this.#met = new Uint8Array(Math.ceil(this.#pages / 8));
    this.#meet(0, 2);
  }

  all(): void {
    const { free, main } = this.#head;
    if (!isPlain(main)) throw new DamagedStoreError("its meta page is not that of a store");
    this.#tree(main, (node) => this.#tree(node, undefined));
    const lists: Buffer[] = [];
    this.#tree(free, undefined, (list) => lists.push(list));
    for (const list of lists) this.#freeList(list);
    if (this.#pages + this.#beyond <= this.#head.lastPage) throw new DamagedStoreError("its end is missing");
  }

  /** Meets every page of a tree, whose own figures must agree. */
  #tree(tree: Tree, within: ((inner: Tree) => void) | undefined, read?: (data: Buffer) => void): void {
    const { root, depth } = tree;
    const counted = { branches: 0, leaves: 0, overflow: 0, entries: 0 };
    if (root !== NO_PAGE) {
      if (depth < 1 || depth > MAX_DEPTH) throw new DamagedStoreError("a tree has an impossible depth");
      this.#subtree(Number(root), depth, counted, within, read);
    }
    for (const name of ["branches", "leaves", "overflow", "entries"] as const) {
      if (counted[name] !== tree[name])
        throw new DamagedStoreError(`a tree does not have the number of ${name} that it states`);
    }
  }

  #subtree(
    page: number,
    depth: number,
    counted: { branches: number; leaves: number; overflow: number; entries: number },
    within: ((inner: Tree) => void) | undefined,
    read: ((data: Buffer) => void) | undefined,
  ): void {
    const bytes = this.#page(page, depth > 1 ? PAGE.branch : PAGE.leaf);
    const nodes = this.#nodes(bytes, page);
    if (depth > 1) {
      counted.branches++;
      if (nodes.length < 1) throw new DamagedStoreError(`page ${page} has no entries`);
      for (const at of nodes) {
        const child = bytes.readUInt32LE(at) + bytes.readUInt16LE(at + 4) * 2 ** 32;
        this.#subtree(child, depth - 1, counted, within, read);
      }
      return;
    }
    counted.leaves++;
    counted.entries += nodes.length;
    for (const at of nodes) {
      const flags = bytes.readUInt16LE(at + 4);
      const start = at + NODE_HEAD + bytes.readUInt16LE(at + 6);
      const size = bytes.readUInt32LE(at);
      const length = flags === NODE.big ? OVERFLOW_BYTES : size;
      if (start + length > bytes.length) throw new DamagedStoreError(`page ${page} has a value beyond its end`);
      if (flags === NODE.tree && within !== undefined && length === TREE_BYTES) {
        const inner = treeAt(bytes, start);
        if (!isPlain(inner)) throw new DamagedStoreError("a tree has a type that no store uses");
        within(inner);
      } else if (flags === NODE.big) counted.overflow += this.#overflow(bytes, start, size, read);
      else if (flags !== 0) throw new DamagedStoreError(`page ${page} has a value of a type that no store uses`);
      else read?.(Buffer.from(bytes.subarray(start, start + length)));
    }
  }

  /** Where the nodes of a page begin; each lies within the page with its key. */
  #nodes(bytes: Buffer, page: number): readonly number[] {
    const [lower, upper] = [bytes.readUInt16LE(20), bytes.readUInt16LE(22)];
    const room = bytes.length - PAGE_HEAD;
    if (lower % 2 !== 0 || lower > upper || upper > room)
      throw new DamagedStoreError(`page ${page} has impossible bounds`);
    return Array.from({ length: lower / 2 }, (_, i) => {
      const at = PAGE_HEAD + bytes.readUInt16LE(PAGE_HEAD + 2 * i);
      const fits = at >= PAGE_HEAD + upper && at + NODE_HEAD <= bytes.length;
      if (!fits || at + NODE_HEAD + bytes.readUInt16LE(at + 6) > bytes.length) {
        throw new DamagedStoreError(`page ${page} has a key beyond its end`);
      }
      return at;
    });
  }

  /** The pages of a value that has pages of its own. */
  #overflow(bytes: Buffer, at: number, size: number, read: ((data: Buffer) => void) | undefined): number {
    const [page, count] = [numberAt(bytes, at), numberAt(bytes, at + 16)];
    const { pageSize, transaction } = this.#head;
    this.#meet(page, count);
    const head = Buffer.alloc(PAGE_HEAD);
    readSync(this.#file, head, 0, PAGE_HEAD, page * pageSize);
    const isIts =
      numberAt(head, 0) === page &&
      numberAt(head, 8) <= transaction &&
      head.readUInt16LE(18) === PAGE.overflow &&
      head.readUInt32LE(20) === count &&
      PAGE_HEAD + size <= count * pageSize;
    if (!isIts) throw new DamagedStoreError(`page ${page} is not the page that a value refers to`);
    if (read !== undefined) {
      const data = Buffer.alloc(size);
      readSync(this.#file, data, 0, size, page * pageSize + PAGE_HEAD);
      read(data);
    }
    return count;
  }

  #page(page: number, kind: number): Buffer {
    const { pageSize, transaction } = this.#head;
    this.#meet(page, 1);
    const bytes = Buffer.alloc(pageSize);
    readSync(this.#file, bytes, 0, pageSize, page * pageSize);
    const isIts = numberAt(bytes, 0) === page && numberAt(bytes, 8) <= transaction && bytes.readUInt16LE(18) === kind;
    if (!isIts) throw new DamagedStoreError(`page ${page} is not the page that a tree refers to`);
    return bytes;
  }

  /** Pages within the file that nothing else uses. */
  #meet(page: number, count: number): void {
    if (!(page >= 0 && count >= 1 && page + count <= this.#pages)) {
      throw new DamagedStoreError(`page ${page} lies at least partly outside the file`);
    }
    for (let one = page; one < page + count; one++) {
      const [index, bit] = [one >> 3, 1 << (one & 7)];
      if (((this.#met[index] as number) & bit) !== 0) throw new DamagedStoreError(`page ${one} is used twice`);
      this.#met[index] = (this.#met[index] as number) | bit;
    }
  }

  /** A list of free pages: how many entries, then page numbers, or the negative length of a run and its first page. */
  #freeList(list: Buffer): void {
    const entries = list.length / 8 - 1;
    if (!Number.isInteger(entries) || entries < 0 || numberAt(list, 0) > entries) {
      throw new DamagedStoreError("a list of free pages is incomplete");
    }
    for (let i = 1; i <= numberAt(list, 0); i++) {
      const entry = Number(list.readBigInt64LE(8 * i));
      if (entry === 0) continue;
      const [count, page] = entry < 0 ? [-entry, Number(list.readBigInt64LE(8 * ++i))] : [1, entry];
      if (!(page >= 2 && page + count - 1 <= this.#head.lastPage))
        throw new DamagedStoreError("a list of free pages names a page that does not exist");
      const within = Math.max(0, Math.min(count, this.#pages - page));
      if (within > 0) this.#meet(page, within);
      this.#beyond += count - within;
    }
  }
}
