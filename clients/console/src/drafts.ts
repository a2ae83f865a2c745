import { useEffect, useState } from "react";

// What somebody is writing outlives a reload, and a sign-in at an outside
// provider, in this tab alone. Never a secret.

const keyOf = (name: string): string => `draft ${name}`;

/** What was kept under a name; {} for nothing. */
export function readDraft(name: string): Record<string, string | boolean | readonly string[]> {
  const kept = sessionStorage.getItem(keyOf(name));
  return kept === null ? {} : JSON.parse(kept);
}

/** Keeps what is written so far. */
export function keepDraft(name: string, values: object): void {
  sessionStorage.setItem(keyOf(name), JSON.stringify(values));
}

/** Forgets a draft when its form is closed, for whatever reason but that the page is left. */
export function useForgotten(name: string): void {
  useEffect(() => () => sessionStorage.removeItem(keyOf(name)), [name]);
}

/** One text, and what sets it. */
export function useDraft(name: string): [string, (text: string) => void] {
  const [text, setText] = useState(() => String(readDraft(name).text ?? ""));
  useForgotten(name);
  return [
    text,
    (next) => {
      keepDraft(name, { text: next });
      setText(next);
    },
  ];
}
