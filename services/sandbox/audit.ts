const KEPT = 10_000;

/** What somebody did, for looking at whom requests acted as; the latest ten thousand entries are kept. */
export class Audit<Entry> {
  private readonly kept: Entry[] = [];

  /** Oldest first. */
  get entries(): readonly Entry[] {
    return this.kept;
  }

  /** Adds the latest entry. */
  record(entry: Entry): void {
    this.kept.push(entry);
    if (this.kept.length > KEPT) this.kept.shift();
  }
}
