import type { CollectionSpec } from "../../../../../services/shared/store/store.js";

export const ENTRIES = "entries";
export const COUNTERS = "counters";
/** Records of the inserts, which go by a journal. */
export const RECORDS = "records";
export const LANES = 64;
/** Inserts, each followed by an update. */
export const WRITES = 5_000;

export const SPECS: readonly CollectionSpec[] = [
  { name: ENTRIES, indexes: [{ name: "code", key: { code: 1 }, unique: true }] },
  { name: COUNTERS, indexes: [] },
  { name: RECORDS, journaled: true, indexes: [{ name: "entry", key: { entry: 1 } }] },
];
