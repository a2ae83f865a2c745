import type { Database, RootDatabase } from "lmdb";

/**
 * How far the entries of a journal are where they belong: the number of the last of them. It moves in the transaction that
 * puts them there, so that after a crash each goes there once, and never over what came later.
 */
export class JournalMark {
  readonly #marks: Database<number, string>;

  /** @param name of the journal, among those of the environment. */
  constructor(
    root: RootDatabase,
    private readonly name: string,
  ) {
    this.#marks = root.openDB("journals", { encoding: "msgpack" });
  }

  get last(): number {
    return this.#marks.get(this.name) ?? 0;
  }

  /**
   * Inside a transaction, before entries are put where they belong: moves the mark past them.
   *
   * @returns false if it is past them, because an attempt that seemed to fail did not.
   * @throws Error if others are missing before them: these failed, and go first.
   */
  move(first: number, last: number): boolean {
    const there = this.last;
    if (there >= last) return false;
    if (there !== first - 1) throw new Error(`the journal ${this.name} is at ${there}, so ${first} cannot follow`);
    void this.#marks.put(this.name, last);
    return true;
  }
}
