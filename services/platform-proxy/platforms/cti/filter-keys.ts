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
  /** Objects can be counted by its values. */
  readonly countable?: boolean;
}

/** The kinds of attributes whose values can be counted; of times and long texts each object has its own. */
const COUNTED = ["string", "vocabulary", "enum", "integer", "float", "boolean"];

/** What refers to objects of another kind and can be counted, by our own word for it. */
export const REFERENCES: Readonly<Record<string, string>> = {
  createdBy: "author",
  objectLabel: "label",
  objectMarking: "marking",
};

/** Filters that the platform computes: nothing of them is stored, so that it would count all objects as without a value. */
const COMPUTED = ["alias", "computed_reliability", "is_inferred"];

const isCountable = (name: string, kind: string): boolean =>
  Object.hasOwn(REFERENCES, name) || (COUNTED.includes(kind) && !COMPUTED.includes(name) && !name.includes("."));

/** The attributes of a type, by name. */
export async function filterKeysOf(platform: Platform, type: string): Promise<FilterKey[]> {
  const { filterKeysSchema } = await platform.graphql(FILTER_KEYS, {});
  const own = filterKeysSchema.find(({ entity_type }) => entity_type === type)?.filters_schema ?? [];
  return own
    .map(({ filterKey: name, filterDefinition: { type: kind, multiple } }) => {
      return { name, kind, multiple, ...(isCountable(name, kind) && { countable: true }) };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
