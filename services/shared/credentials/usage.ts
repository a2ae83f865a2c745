/** How often and when last a key was used. */
export interface Usage {
  readonly keyId: string;
  uses: number;
  /** Milliseconds since the epoch. */
  lastUsedAt: number;
  /** What the client that connected last calls itself; "" if none has since the last take. */
  client: string;
  /** When that client connected, in milliseconds since the epoch; 0 if none has since the last take. */
  connectedAt: number;
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
      usage = { keyId, uses: 0, lastUsedAt: 0, client: "", connectedAt: 0 };
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
        if (usage.uses === 0 && usage.client === "") continue;
        taken.push({ ...usage });
        usage.uses = 0;
        usage.client = "";
        usage.connectedAt = 0;
      }
      return taken;
    },
    restore(usages) {
      for (const { keyId, uses, lastUsedAt, client, connectedAt } of usages) {
        const usage = of(keyId);
        usage.uses += uses;
        usage.lastUsedAt = Math.max(usage.lastUsedAt, lastUsedAt);
        if (connectedAt <= usage.connectedAt) continue;
        usage.client = client;
        usage.connectedAt = connectedAt;
      }
    },
  };
}
