/** Shorter values would be found in any text. */
const SHORTEST = 4;
const REDACTED = "[redacted]";

/** Keeps what is secret out of texts, by its value. */
export interface Redactor {
  /** From now on this value is taken out. */
  add(secret: string): void;
  /** The text without any of the values, as they are or as they are written in JSON, URLs and base64. */
  redact(text: string): string;
}

/** Begins without any. */
export function createRedactor(): Redactor {
  const written = new Set<string>();
  let longestFirst: string[] = [];
  return {
    add(secret) {
      if (secret.length < SHORTEST || written.has(secret)) return;
      const base64 = Buffer.from(secret).toString("base64");
      const forms = [
        secret,
        JSON.stringify(secret).slice(1, -1),
        encodeURIComponent(secret),
        base64,
        base64.replace(/={1,2}$/, ""),
        Buffer.from(secret).toString("base64url"),
      ];
      for (const form of forms) written.add(form);
      longestFirst = [...written].sort((a, b) => b.length - a.length);
    },
    redact: (text) => longestFirst.reduce((left, form) => left.replaceAll(form, REDACTED), text),
  };
}
