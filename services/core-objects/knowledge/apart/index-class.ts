import { createRequire } from "node:module";
import type { Index } from "usearch";

/** What makes an index: usearch's own class. */
export type IndexClass = typeof Index;

/** undefined where usearch has no binary for the system: each vector is compared there. */
export function indexClass(): IndexClass | undefined {
  try {
    return createRequire(import.meta.url)("usearch").Index as IndexClass;
  } catch {
    return undefined;
  }
}
