import { CONVENTIONS, type Fact } from "./gen-ai.js";

// Which facts an attribute tells, looked up by the bytes of its key: most keys tell none, and need not become text.

/** What is looked for in the attributes of a span: each has a slot. */
export const SLOTS = [
  ...(["agentId", "agentName", "operation", "model", "tool", "inputTokens", "outputTokens"] as const),
  ...(["input", "output"] as const),
  "metadata",
] as const;
/** One of them. */
export type Slot = (typeof SLOTS)[number];

/** A fact that a key tells. */
export interface Telling {
  readonly slot: number;
  /** Of several keys the one of the lowest rank counts: the first of the first row. */
  readonly rank: number;
}

/** Past every rank. */
export const NO_RANK = 0x7fff_ffff;
/** More than a row has keys for a fact. */
const KEYS_A_ROW = 16;

/** The number of the convention that a key of a rank is of. */
export function conventionOf(rank: number): number {
  return Math.floor(rank / KEYS_A_ROW);
}

const byKey = new Map<string, Telling[]>();
tell("metadata", "metadata", 0);
CONVENTIONS.forEach(({ keys }, row) => {
  for (const [fact, names] of Object.entries(keys)) {
    names.forEach((name, i) => {
      tell(name, fact as Fact, row * KEYS_A_ROW + i);
    });
  }
});

function tell(key: string, slot: Slot, rank: number): void {
  byKey.set(key, [...(byKey.get(key) ?? []), { slot: SLOTS.indexOf(slot), rank }]);
}

interface Known {
  readonly key: Buffer;
  readonly tellings: readonly Telling[];
}

const byHash = new Map<number, Known[]>();
let longest = 0;
for (const [name, tellings] of byKey) {
  const key = Buffer.from(name);
  const hash = hashOf(key, 0, key.length);
  byHash.set(hash, [...(byHash.get(hash) ?? []), { key, tellings }]);
  longest = Math.max(longest, key.length);
}

/** What a key tells, which stands in some bytes. */
export function tellingsIn(bytes: Uint8Array, from: number, to: number): readonly Telling[] {
  if (to - from > longest) return NONE;
  const known = byHash.get(hashOf(bytes, from, to));
  if (known === undefined) return NONE;
  for (const { key, tellings } of known) if (isAt(bytes, from, to, key)) return tellings;
  return NONE;
}

/** What a key tells. */
export function tellingsOf(key: string): readonly Telling[] {
  return byKey.get(key) ?? NONE;
}

const NONE: readonly Telling[] = [];

function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = to - from;
  for (let at = from; at < to; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0;
  return hash;
}

function isAt(bytes: Uint8Array, from: number, to: number, key: Uint8Array): boolean {
  if (to - from !== key.length) return false;
  for (let i = 0; i < key.length; i++) if (bytes[from + i] !== key[i]) return false;
  return true;
}
