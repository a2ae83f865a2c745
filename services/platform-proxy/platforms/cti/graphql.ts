import type { initGraphQLTada, ResultOf, VariablesOf } from "gql.tada";
import type { introspection } from "#proto/cti-schema.js";
import type { Document } from "../../document.js";

// gql.tada reads documents in the compiler only: at run time they are text, and
// nothing of it is loaded.
declare const tada: initGraphQLTada<{
  introspection: introspection;
  disableMasking: true;
  scalars: { DateTime: string; StixId: string; StixRef: string; Any: unknown };
}>;

/** Fields that several documents ask for, with the fragments that these name themselves. */
export interface Fragment<Parsed = unknown> {
  /** The definitions, each once. */
  readonly parts: readonly string[];
  /** Carries the type and is never set. */
  readonly parsed?: Parsed;
}

/** What a fragment's fields answer. */
export type NodeOf<F extends Fragment> = Answer<ResultOf<NonNullable<F["parsed"]>>>;

type ParsedOf<Fragments extends readonly Fragment[]> = {
  readonly [K in keyof Fragments]: NonNullable<Fragments[K]["parsed"]>;
};

type Parsed<Text extends string, Fragments extends readonly Fragment[]> = ReturnType<
  // @ts-expect-error: naming type arguments checks them against the overload for cached documents too, which is not used.
  typeof tada<Text, ParsedOf<Fragments>>
>;

/** An answer; of the many types behind an interface one shape, where what only some of them have may be missing. */
type Answer<T> = [T] extends [readonly (infer Item)[] | null]
  ? readonly Answer<Item>[] | Extract<T, null>
  : [T] extends [object | null]
    ? Shape<NonNullable<T>> | Extract<T, null>
    : T;

type Shape<T> = { readonly [K in Exclude<keyof T, "__typename">]: Answer<T[K]> } & {
  readonly [K in Exclude<KeysOf<T>, keyof T>]?: Answer<Get<T, K>>;
};
type KeysOf<T> = T extends unknown ? keyof T : never;
type Get<T, K extends PropertyKey> = T extends { readonly [P in K]: infer Value } ? Value : never;

type Input<T> = T extends readonly (infer Item)[]
  ? readonly Input<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Input<T[K]> | (Record<never, never> extends Pick<T, K> ? undefined : never) }
    : T;

/** Writes a fragment. */
export function fragment<const Text extends string, const Fragments extends readonly Fragment[] = []>(
  text: Text,
  fragments?: Fragments,
): Fragment<Parsed<Text, Fragments>> {
  return { parts: partsOf(text, fragments) };
}

/** Writes an operation, whose answer and variables the compiler types by the platform's schema. */
export function operation<const Text extends string, const Fragments extends readonly Fragment[] = []>(
  text: Text,
  fragments?: Fragments,
): Document<Answer<ResultOf<Parsed<Text, Fragments>>>, Input<VariablesOf<Parsed<Text, Fragments>>>> {
  return { text: partsOf(text, fragments).join("\n"), writes: text.trimStart().startsWith("mutation") };
}

function partsOf(text: string, fragments: readonly Fragment[] = []): string[] {
  return [...new Set([text, ...fragments.flatMap(({ parts }) => parts)])];
}
