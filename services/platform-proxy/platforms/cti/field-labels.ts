import type { Platform } from "../../platform.js";
import { operation } from "./graphql.js";

/** How the platform's history names the attributes of objects. */
export const FIELD_LABELS = operation(`
  query FieldLabels {
    filterKeysSchema {
      filters_schema {
        filterKey
        filterDefinition {
          label
        }
      }
    }
  }
`);

/** Fields that changes are asked for by. */
export interface Fields {
  readonly isEmpty: boolean;
  /** Whether a field, as the history names it, is one of them. */
  has(label: string): boolean;
  /** Those that no attribute has as its key or label. */
  readonly unknown: readonly string[];
}

/** Fields by what people call them: the words of the history, or the keys that filters take. */
export async function fieldsOf(platform: Platform, given: readonly string[]): Promise<Fields> {
  if (given.length === 0) return { isEmpty: true, has: () => false, unknown: [] };
  const { filterKeysSchema } = await platform.graphql(FIELD_LABELS, {});
  const labels = new Map<string, Set<string>>();
  for (const { filters_schema } of filterKeysSchema)
    for (const { filterKey, filterDefinition } of filters_schema) {
      const label = filterDefinition.label.toLowerCase();
      for (const name of [filterKey.toLowerCase(), label]) {
        const known = labels.get(name) ?? new Set();
        labels.set(name, known.add(label));
      }
    }
  const asked = given.map((field) => field.trim().toLowerCase());
  const wanted = new Set(asked.flatMap((field) => [field, ...(labels.get(field) ?? [])]));
  return {
    isEmpty: false,
    has: (label) => wanted.has(label.toLowerCase()),
    unknown: given.filter((_, i) => !labels.has(asked[i] ?? "")),
  };
}
