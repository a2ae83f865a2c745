import { invalidArgument } from "../../../shared/rpc/errors.js";
import type { DataOf } from "../../document.js";
import type { Platform } from "../../platform.js";
import { filterKeysOf, REFERENCES } from "./filter-keys.js";
import { operation } from "./graphql.js";
import { visibleOf } from "./resolve.js";
import { namesBelow } from "./types.js";

/** How many objects there are of each value of a field. */
export const ENTITY_DISTRIBUTION = operation(`
  query EntityDistribution($field: String!, $types: [String], $filters: FilterGroup, $search: String, $limit: Int) {
    stixCoreObjectsDistribution(
      field: $field
      operation: count
      types: $types
      filters: $filters
      search: $search
      limit: $limit
    ) {
      label
      value
      entity {
        ... on Label {
          value
        }
        ... on MarkingDefinition {
          definition
        }
      }
    }
  }
`);

/** How many of something there are. */
export interface Bucket {
  readonly id?: string;
  readonly name: string;
  readonly count: number;
}

/** The most first; of equally many by name, so that the order is one. */
export const mostFirst = (buckets: readonly Bucket[]): Bucket[] =>
  [...buckets].sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));

/** How often each name stands in a list, most first. */
export function tallyOf(names: readonly string[]): Bucket[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return mostFirst([...counts].map(([name, count]) => ({ name, count })));
}

type Answered = NonNullable<NonNullable<DataOf<typeof ENTITY_DISTRIBUTION>["stixCoreObjectsDistribution"]>[number]>;

/** What there is nothing of. */
const NONE = "unknown";

/** A field as the platform names it, and how its values are told. */
interface Field {
  readonly key: string;
  read(platform: Platform, rows: readonly Answered[]): Promise<Bucket[]>;
}

const count = ({ value }: Answered): number => value ?? 0;
const isNone = ({ label }: Answered): boolean => label.toLowerCase() === NONE;

/** What refers to an object of another kind; its name is told where the caller sees it. */
const BY_REFERENCE: Readonly<Record<string, Field>> = {
  // The platform tells the ids of hidden authors all the same.
  author: {
    key: "created-by.internal_id",
    async read(platform, rows) {
      const seen = new Map(
        (
          await visibleOf(
            platform,
            rows.filter((row) => !isNone(row)).map(({ label }) => label),
          )
        ).map((one) => [one.id, one]),
      );
      return rows.flatMap((row) => {
        if (isNone(row)) return [{ name: NONE, count: count(row) }];
        const author = seen.get(row.label);
        return author === undefined ? [] : [{ id: author.id, name: author.representative.main, count: count(row) }];
      });
    },
  },
  label: {
    key: "object-label.internal_id",
    read: async (_, rows) => rows.flatMap((row) => namedBy(row, row.entity?.value)),
  },
  marking: {
    key: "object-marking.internal_id",
    read: async (_, rows) => rows.flatMap((row) => namedBy(row, row.entity?.definition)),
  },
  entity_type: { key: "entity_type", read: typesOf },
};

/** Attributes whose values are types of objects. */
const OF_TYPES = ["x_opencti_main_observable_type", "parent_types"];

/** The platform writes types in another spelling here than its other operations take. */
async function typesOf(platform: Platform, rows: readonly Answered[]): Promise<Bucket[]> {
  const spelt = new Map<string, string>();
  for (const base of ["Stix-Domain-Object", "Stix-Cyber-Observable"])
    for (const type of await namesBelow(platform, base)) spelt.set(type.toLowerCase(), type);
  return rows.map((row) => {
    if (isNone(row)) return { name: NONE, count: count(row) };
    return { name: spelt.get(row.label.toLowerCase()) ?? row.label, count: count(row) };
  });
}

function namedBy(row: Answered, name: string | null | undefined): Bucket[] {
  if (isNone(row)) return [{ name: NONE, count: count(row) }];
  return name ? [{ name, count: count(row) }] : [];
}

/** @throws ConnectError invalid_argument, for what no object of these types has: the platform would count all of them as one. */
export async function fieldOf(platform: Platform, asked: string, types: readonly string[]): Promise<Field> {
  const name = Object.hasOwn(REFERENCES, asked) ? (REFERENCES[asked] as string) : asked;
  const known = Object.hasOwn(BY_REFERENCE, name) ? BY_REFERENCE[name] : undefined;
  if (known !== undefined) return known;
  const keys = await filterKeysOf(platform, types[0] ?? "Stix-Core-Object");
  const key = keys.find((one) => one.name === name);
  if (key?.countable !== true)
    throw invalidArgument(
      `field: cannot group by ${name}; use entity_type, author, label, marking, or an attribute that list_filter_keys lists as countable for the type`,
    );
  if (OF_TYPES.includes(name)) return { key: name, read: typesOf };
  return {
    key: name,
    async read(_, rows) {
      if (key.kind !== "boolean") return rows.map((row) => ({ name: row.label.toLowerCase(), count: count(row) }));
      return rows.map((row) => ({
        name: row.label === "1" ? "true" : row.label === "0" ? "false" : row.label.toLowerCase(),
        count: count(row),
      }));
    },
  };
}
