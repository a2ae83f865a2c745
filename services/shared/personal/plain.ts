/** As `services/shared/secrets/seal.ts` writes what it encrypts. */
const SEALED = /^v\d+\.[0-9a-f]{8}\./;

/**
 * A stored record as JSON that a person may be given: without the fields that are named, and without anything that is
 * encrypted at rest, whatever it is called.
 */
export function plainOf(record: object, without: readonly string[] = []): string {
  return JSON.stringify(record, (name, value: unknown) => {
    if (without.includes(name)) return undefined;
    if (typeof value === "string" && SEALED.test(value)) return undefined;
    if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
    return isBytes(value) ? Buffer.from(value.data).toString("base64") : value;
  });
}

/** Bytes, as `Buffer.toJSON` shows them to a replacer. */
function isBytes(value: unknown): value is { readonly data: number[] } {
  const { type, data } = (value ?? {}) as { readonly type?: unknown; readonly data?: unknown };
  return type === "Buffer" && Array.isArray(data);
}
