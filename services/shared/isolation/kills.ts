/** How often a process may be killed before its remote is to blame, and within which time, in milliseconds. */
const EXCUSED = 3;
const WITHIN_MS = 600_000;

/**
 * How often the processes of a remote were killed by somebody else. Once may be an administrator, or a system whose
 * memory others took; if it happens again and again, it is what the remote answers.
 */
export class Kills {
  readonly #times = new Map<string, readonly number[]>();

  add(key: string, now = performance.now()): void {
    for (const [other, times] of this.#times) if ((times.at(-1) ?? 0) < now - WITHIN_MS) this.#times.delete(other);
    this.#times.set(key, [...(this.#times.get(key) ?? []).filter((at) => at > now - WITHIN_MS), now]);
  }

  areTooMany(key: string): boolean {
    return (this.#times.get(key)?.length ?? 0) > EXCUSED;
  }
}
