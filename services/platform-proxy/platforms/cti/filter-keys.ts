import type { Platform } from "../../platform.js";
import { operation } from "./graphql.js";

/** The attributes of each type. */
export const FILTER_KEYS = operation(`
  query FilterKeys {
    filterKeysSchema {
      entity_type
      filters_schema {
        filterKey
        filterDefinition {
          type
          multiple
        }
      }
    }
  }
`);

/** An attribute that objects of a type have. */
export interface FilterKey {
  readonly name: string;
  /** The kind of its values. */
  readonly kind: string;
  readonly multiple: boolean;
}

/** The attributes of a type, by name. */
export async function filterKeysOf(platform: Platform, type: string): Promise<FilterKey[]> {
  const { filterKeysSchema } = await platform.graphql(FILTER_KEYS, {});
  const own = filterKeysSchema.find(({ entity_type }) => entity_type === type)?.filters_schema ?? [];
  return own
    .map(({ filterKey, filterDefinition: { type: kind, multiple } }) => ({ name: filterKey, kind, multiple }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
