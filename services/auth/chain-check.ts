/** What of a record its chain is checked by. */
export interface Link {
  readonly number: number;
  readonly hash: string;
  /** The hash of the record before it, as this one has it; "" for the first, and for records of before there were hashes. */
  readonly previous: string;
}

/** A record that does not fit. */
export interface ChainProblem {
  readonly number: number;
  /** What is wrong with it. */
  readonly reason: string;
}

/** Problems that are told one by one. */
const TOLD = 100;

/**
 * Checks that records which follow each other fit: that each has the hash of the one before it. Between records that
 * are missing nothing can be checked: the bounds of the audit delete some, and the numbers say how many.
 */
export class ChainCheck {
  records = 0;
  missing = 0;
  first: number | undefined;
  last: Link | undefined;
  readonly problems: ChainProblem[] = [];
  /** Those that are not told one by one too. */
  problemCount = 0;

  /** @param before the record in front of the first that is checked. */
  constructor(before?: Link) {
    this.last = before;
  }

  add(link: Link): void {
    const { last } = this;
    this.records++;
    this.first ??= link.number;
    this.last = link;
    if (last === undefined) return;
    if (link.number <= last.number) this.report(link.number, `it comes after record ${last.number}`);
    else if (link.number > last.number + 1) this.missing += link.number - last.number - 1;
    else if (link.previous !== "" && link.previous !== last.hash)
      this.report(link.number, `its hash of record ${last.number} is another: one of the two was changed`);
    else if (link.previous === "" && last.previous !== "")
      this.report(link.number, `it has no hash of record ${last.number}, and that one has one`);
  }

  report(number: number, reason: string): void {
    this.problemCount++;
    if (this.problems.length < TOLD) this.problems.push({ number, reason });
  }
}
