/** Spans of an export that were not taken, and why, in words for their sender. */
export interface Rejects {
  count: number;
  readonly reasons: Set<string>;
}

/** Counts spans that are not taken. */
export function reject(rejects: Rejects, count: number, reason: string): void {
  rejects.count += count;
  rejects.reasons.add(reason);
}
