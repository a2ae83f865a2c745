import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ReferenceSchema } from "#proto/grc/v1/reference_pb.js";

/** A page as the platform gives it. */
export interface Listing<T> {
  readonly count: number;
  readonly results: readonly T[];
}

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

/** A named level of a score scale. */
export interface Level {
  readonly score: number;
  readonly name: string;
  readonly description?: string | null;
}

/** The levels of a scale: a framework has the list, an audit wraps it; null where scores are plain numbers. */
export type ScoresDefinition = readonly Level[] | { readonly scale?: readonly Level[] } | null;

export function levelsOf(definition: ScoresDefinition | undefined): readonly Level[] {
  const wrapped = definition !== null && definition !== undefined && "scale" in definition;
  const levels = wrapped ? definition.scale : definition;
  return Array.isArray(levels) ? levels : [];
}

type Reference = MessageInitShape<typeof ReferenceSchema>;

/** A related object that the caller may see; undefined for none and for a hidden one. */
export function referenceOf(related: Related | null | undefined): { id: string; name: string } | undefined {
  if (related?.id === undefined) return undefined;
  return { id: related.id, name: related.name ?? related.str ?? "" };
}

/** The related objects that the caller may see, and how many there are besides. */
export function referencesOf(related: readonly Related[] | undefined): { seen: Reference[]; hidden: number } {
  const seen = (related ?? []).map(referenceOf).filter((one) => one !== undefined);
  return { seen, hidden: (related?.length ?? 0) - seen.length };
}

/** The fields of a message that the platform has a value for: null and "" count as none. */
export function present<T extends Record<string, unknown>>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return Object.fromEntries(given) as { [K in keyof T]?: NonNullable<T[K]> };
}

export function timeOf(text: string) {
  return timestampFromDate(new Date(text));
}

/** A rated step; undefined where nothing is rated. */
export function ratingOf(step: Step | null | undefined): { value: number; name: string } | undefined {
  if (step?.value === undefined || step.value < 0) return undefined;
  return { value: step.value, name: step.name ?? "" };
}
