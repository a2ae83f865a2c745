/** A related object: `{}` where the caller may not see it. */
export interface Related {
  readonly id?: string;
  readonly str?: string;
  readonly name?: string;
}

/** A step of a matrix; value -1 where nothing is rated. */
export interface Step {
  readonly value?: number;
  readonly name?: string;
}

/** An amount, which comes as a text where the platform keeps decimals; null or "" for none. */
export type Decimal = string | number | null;

/** An amount; undefined for none. */
export function decimalOf(amount: Decimal | undefined): number | undefined {
  return amount === null || amount === undefined || amount === "" ? undefined : Number(amount);
}

/** A named level of a score scale. */
export interface Level {
  readonly score: number;
  readonly name: string;
  readonly description?: string | null;
}

/** The levels of a scale: a framework has the list, an audit wraps it; null where scores are plain numbers. */
export type ScoresDefinition = readonly Level[] | { readonly scale?: readonly Level[] } | null;

/** The named levels of a scale; none where scores are plain numbers. */
export function levelsOf(definition: ScoresDefinition | undefined): readonly Level[] {
  const wrapped = definition !== null && definition !== undefined && "scale" in definition;
  const levels = wrapped ? definition.scale : definition;
  return Array.isArray(levels) ? levels : [];
}

/** An object by its id and name. */
export interface Reference {
  readonly id: string;
  readonly name: string;
}

/** A related object that the caller may see; undefined for none and for a hidden one. */
export function referenceOf(related: Related | null | undefined): Reference | undefined {
  if (related?.id === undefined) return undefined;
  return { id: related.id, name: related.name ?? related.str ?? "" };
}

/** The related objects that the caller may see, and how many there are besides. */
export function referencesOf(related: readonly Related[] | undefined): {
  seen: Reference[];
  hidden: number;
} {
  const seen = (related ?? []).map(referenceOf).filter((one) => one !== undefined);
  return { seen, hidden: (related?.length ?? 0) - seen.length };
}

/** How many owners a row of a list names at most. */
export const OWNERS_OF_A_ROW = 3;

/** Objects that several rows of a page name, each once. */
export function namedOnce(references: readonly Reference[]): Reference[] {
  return [...new Map(references.map((one) => [one.id, one])).values()];
}

/** A rated step; undefined where nothing is rated. */
export function ratingOf(step: Step | null | undefined): { value: number; name: string } | undefined {
  if (step?.value === undefined || step.value < 0) return undefined;
  return { value: step.value, name: step.name ?? "" };
}

/** The name of a file by the address that it is kept at, which a store of objects signs; undefined for none. */
export function fileNameOf(address: string | null): string | undefined {
  const name = address?.split(/[?#]/, 1)[0]?.split("/").at(-1);
  try {
    return name && decodeURIComponent(name);
  } catch {
    return name;
  }
}
