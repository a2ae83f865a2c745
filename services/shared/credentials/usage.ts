/** How often and when last a key was used. */
export interface Usage {
  readonly keyId: string;
  uses: number;
  /** Milliseconds since the epoch. */
  lastUsedAt: number;
}

/** Counts uses of API keys in memory until somebody writes them down. */
export interface UsageCounter {
  /** The running count of a key; the hot path keeps it and adds to it in place. */
  of(keyId: string): Usage;
  /** The counts since the last take, at most `limit` of them; they start again from zero. */
  take(limit: number): Usage[];
  /** Puts back what could not be written down. */
  restore(usages: readonly Usage[]): void;
}

/** Counts in memory; what was not taken is lost with the process. */
export function createUsageCounter(): UsageCounter {
  const running = new Map<string, Usage>();

  function of(keyId: string): Usage {
    let usage = running.get(keyId);
    if (usage === undefined) {
      usage = { keyId, uses: 0, lastUsedAt: 0 };
      running.set(keyId, usage);
    }
    return usage;
  }

  return {
    of,
    take(limit) {
      const taken: Usage[] = [];
      for (const usage of running.values()) {
        if (taken.length >= limit) break;
        if (usage.uses === 0) continue;
        taken.push({ ...usage });
        usage.uses = 0;
      }
      return taken;
    },
    restore(usages) {
      for (const { keyId, uses, lastUsedAt } of usages) {
        const usage = of(keyId);
        usage.uses += uses;
        usage.lastUsedAt = Math.max(usage.lastUsedAt, lastUsedAt);
      }
    },
  };
}
