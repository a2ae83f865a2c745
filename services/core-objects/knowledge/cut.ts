import { packedTerms } from "./packed-terms.js";
import { passagesOf } from "./passages.js";
import { BLOCK, type DocumentType, type PassageRecord } from "./records.js";

/** A text in passages, and the terms that each block of them is found by. */
export interface Cut {
  readonly passages: readonly PassageRecord[];
  readonly terms: readonly Uint8Array[];
}

/** Cuts a text. */
export function cutOf(text: string, type: DocumentType): Cut {
  const passages = passagesOf(text, type);
  const terms: Uint8Array[] = [];
  for (let from = 0; from < passages.length; from += BLOCK) terms.push(packedTerms(passages.slice(from, from + BLOCK)));
  return { passages, terms };
}
