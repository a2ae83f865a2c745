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
  /** The count of a key; the hot path keeps it. */
  of(keyId: string): Usage;
  /** Counts a use. Hot path. */
  use(usage: Usage, now: number): void;
  /** Notes the client that has connected. */
  connect(usage: Usage, client: string, now: number): void;
  /** The counts since the last take, at most `limit` of them; they start again from zero. */
  take(limit: number): Usage[];
  /** Puts back what could not be written down. */
  restore(usages: readonly Usage[]): void;
}

/**
 * Counts in memory; what was not taken is lost with the process. It holds the counts that wait to be taken, and not one
 * of each key that was ever used.
 *
 * @param begun is called when something can be taken and nothing could before.
 */
export function createUsageCounter(begun: () => void = () => undefined): UsageCounter {
  const waiting = new Map<string, Usage>();

  /** The count of the key that can be taken: this one, if there is no other. */
  function waitingFor(usage: Usage): Usage {
    const there = waiting.get(usage.keyId);
    if (there !== undefined) return there;
    waiting.set(usage.keyId, usage);
    if (waiting.size === 1) begun();
    return usage;
  }

  const of = (keyId: string): Usage =>
    waiting.get(keyId) ?? { keyId, uses: 0, lastUsedAt: 0, client: "", connectedAt: 0 };

  return {
    of,
    use(usage, now) {
      const counted = usage.uses > 0 ? usage : waitingFor(usage);
      counted.uses++;
      counted.lastUsedAt = now;
    },
    connect(usage, client, now) {
      const counted = waitingFor(usage);
      counted.client = client;
      counted.connectedAt = now;
    },
    take(limit) {
      const taken: Usage[] = [];
      for (const usage of waiting.values()) {
        if (taken.length >= limit) break;
        taken.push({ ...usage });
        usage.uses = 0;
        usage.client = "";
        usage.connectedAt = 0;
        waiting.delete(usage.keyId);
      }
      return taken;
    },
    restore(usages) {
      for (const { keyId, uses, lastUsedAt, client, connectedAt } of usages) {
        const usage = waitingFor(of(keyId));
        usage.uses += uses;
        usage.lastUsedAt = Math.max(usage.lastUsedAt, lastUsedAt);
        if (connectedAt <= usage.connectedAt) continue;
        usage.client = client;
        usage.connectedAt = connectedAt;
      }
    },
  };
}
