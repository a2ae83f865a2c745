import { packedTerms } from "./packed-terms.js";
import { passagesFrom } from "./passages.js";
import { BLOCK, type DocumentType, type PassageRecord, TEXT_START, type TextPlace } from "./records.js";

/** A part of a text, and where it stands. */
export interface Part {
  readonly text: string;
  readonly type: DocumentType;
  /** The start of the text if left out. */
  readonly at?: TextPlace;
  /** Passages before it that do not fill a block. */
  readonly before?: readonly PassageRecord[];
}

/** A part in passages, those before it included, and the terms that each block of them is found by. */
export interface Cut {
  readonly passages: readonly PassageRecord[];
  readonly terms: readonly Uint8Array[];
  readonly after: TextPlace;
}

/** Cuts a part of a text. */
export function cutOf({ text, type, at = TEXT_START, before = [] }: Part): Cut {
  const { passages: own, after } = passagesFrom(text, type, at);
  const passages = [...before, ...own];
  const terms: Uint8Array[] = [];
  for (let from = 0; from < passages.length; from += BLOCK) terms.push(packedTerms(passages.slice(from, from + BLOCK)));
  return { passages, terms, after };
}
