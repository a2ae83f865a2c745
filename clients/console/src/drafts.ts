import { useEffect, useState } from "react";

// What somebody is writing outlives a reload, and a sign-in at an outside
// provider, in this tab alone. Never a secret.

const keyOf = (name: string): string => `draft ${name}`;

/** What a draft has for each field. */
export type Draft = Readonly<Record<string, string | boolean | readonly string[]>>;

/** What was kept under a name; {} for nothing. */
export function readDraft(name: string): Draft {
  const kept = sessionStorage.getItem(keyOf(name));
  return kept === null ? {} : JSON.parse(kept);
}

/** Keeps what is written so far. */
export function keepDraft(name: string, values: object): void {
  sessionStorage.setItem(keyOf(name), JSON.stringify(values));
}

/** Forgets what was written. */
export function forgetDraft(name: string): void {
  sessionStorage.removeItem(keyOf(name));
}

/** Forgets a draft when its form is closed, for whatever reason but that the page is left. */
export function useForgotten(name: string): void {
  useEffect(() => () => forgetDraft(name), [name]);
}

/** The values of a form, and what changes some of them. */
export function useDraft<T extends Draft>(name: string, first: T): [T, (changed: Partial<T>) => void] {
  const [values, setValues] = useState<T>(() => ({ ...first, ...readDraft(name) }));
  useForgotten(name);
  return [
    values,
    (changed) => {
      const next = { ...values, ...changed };
      keepDraft(name, next);
      setValues(next);
    },
  ];
}

const OWNER = "drafts of";

/**
 * What somebody has begun to write is theirs: if somebody else signs in here, it is dropped.
 *
 * @returns whether the tab was somebody else's.
 */
export function handDraftsTo(email: string): boolean {
  const before = sessionStorage.getItem(OWNER);
  const isOther = before !== null && before !== email;
  if (isOther) sessionStorage.clear();
  sessionStorage.setItem(OWNER, email);
  return isOther;
}
