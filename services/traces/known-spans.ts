import type { ReadTrace } from "./gather.js";
import { HEAD_BYTES, idOfKey, keyIn, keyOfId } from "./head.js";
import { bufferOf } from "./segments.js";
import { type OpenPart, SpanList } from "./span-list.js";
import type { TraceStore } from "./store.js";

/** What a trace has of the spans that come to it. */
export interface KnownSpans {
  /** Keys of spans that are there. */
  readonly keys: Set<string>;
  /** The part of its list that takes the next ones. */
  readonly part: OpenPart;
}

/** Looks up which spans of a trace are there. */
export async function knownKeys(store: TraceStore, trace: string, read: ReadTrace): Promise<KnownSpans> {
  const list = await SpanList.read(store, trace);
  const come = keysOf(read);
  const keys = list.among(come);
  const ids = [...come].filter((key) => !keys.has(key)).map((key) => `${trace}.${idOfKey(key)}`);
  if (ids.length === 0) return { keys, part: list.open };
  const own = await store.spans.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray();
  for (const { _id } of own) keys.add(keyOfId(_id.slice(trace.length + 1)));
  return { keys, part: list.open };
}

function keysOf({ packs, long }: ReadTrace): Set<string> {
  return new Set([...packs.flatMap(({ heads }) => keysIn(bufferOf(heads))), ...long.map(({ key }) => key)]);
}

function keysIn(heads: Buffer): string[] {
  return Array.from({ length: heads.length / HEAD_BYTES }, (_, i) => keyIn(heads, i * HEAD_BYTES));
}
