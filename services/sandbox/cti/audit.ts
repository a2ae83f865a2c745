/** One request that the platform answered, as its administrators see it. */
export interface AuditEntry {
  readonly at: Date;
  /** The account that the token signed in; undefined for nobody. */
  readonly user: string | undefined;
  readonly userAgent: string | undefined;
  /** The root fields asked for. */
  readonly fields: readonly string[];
  /** The draft header: "" is live, undefined is not sent. */
  readonly draft: string | undefined;
  /** The code of its first error. */
  readonly code: string | undefined;
}

const KEPT = 10_000;

/** Keeps the latest entries. */
export function createAudit(): { readonly entries: readonly AuditEntry[]; record(entry: AuditEntry): void } {
  const entries: AuditEntry[] = [];
  return {
    entries,
    record(entry) {
      entries.push(entry);
      if (entries.length > KEPT) entries.shift();
    },
  };
}
