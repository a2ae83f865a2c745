/** Keeps the best of all that are added, by their scores, up to a number. */
export class Best<T extends { readonly score: number }> {
  #found: T[] = [];
  /** What a further one must exceed. */
  least = Number.NEGATIVE_INFINITY;

  constructor(private readonly size: number) {}

  add(one: T): void {
    if (one.score <= this.least) return;
    this.#found.push(one);
    // Sorted now and then: cheaper than a heap where few of many come in.
    if (this.#found.length >= 4 * this.size) this.#cut();
  }

  /** What was added and is among the best, the best first. */
  all(): readonly T[] {
    this.#cut();
    return this.#found;
  }

  #cut(): void {
    this.#found = this.#found.sort((a, b) => b.score - a.score).slice(0, this.size);
    if (this.#found.length === this.size) this.least = this.#found[this.size - 1]!.score;
  }
}
