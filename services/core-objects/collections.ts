import type { CollectionSpec } from "../shared/store/store.js";
import { BLOCKS, DOCUMENTS, PIECES, SOURCES, VECTORS } from "./knowledge/records.js";
import { NOTICES } from "./notices/record.js";
import { ROOM_COLLECTION } from "./room.js";
import { RUNS, STEPS } from "./runs/record.js";
import { RIGHTS } from "./runs/rights.js";
import { RUN_ROOM } from "./runs/run-room.js";
import { SPENDING } from "./runs/spending/counters.js";
import { loadKinds } from "./service.js";

/** Every collection of our own records, those of all kinds of objects included. */
export async function coreCollections(): Promise<readonly CollectionSpec[]> {
  const kinds = await loadKinds();
  return [
    ...kinds.map(({ collection }) => collection),
    ...[ROOM_COLLECTION, RUNS, STEPS, RUN_ROOM, RIGHTS, NOTICES, SPENDING],
    ...[DOCUMENTS, SOURCES, PIECES, BLOCKS, VECTORS],
  ];
}
