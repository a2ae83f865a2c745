import { setImmediate as nextTurn } from "node:timers/promises";
import type { Document } from "mongodb";
import type { Looked } from "../store.js";
import type { Scan } from "./scan.js";

/** One way to what is looked for. */
interface Lane {
  readonly scan: Scan;
  readonly found: Document[];
  /** Where it had come to. */
  at: string | undefined;
}

/** What scans look for, and how far. */
export interface Race {
  readonly descending: boolean;
  readonly limit: number;
  /** Documents that all of them together look at. */
  readonly most: number;
  /** Bytes of documents that they have read. */
  readonly bytesRead: () => number;
  /** What the documents are in the order of, from what an index holds of one; undefined where it is gone. */
  readonly orderOf: (value: unknown) => string | undefined;
}

/** Documents that a scan looks at before the next one has its turn: few at first, because most pages are full by then. */
const FIRST_STEP = 4;
const MAX_STEP = 32;
/** What may be read of large documents before others have their turn, and altogether. */
const STEP_BYTES = 1 << 20;
const MOST_BYTES = 8 << 20;
/** How long the event loop may be held, in milliseconds. */
const SLICE_MS = 4;

/**
 * Looks for the same documents along several indexes, one step of each after the
 * other. The first that has found enough, or comes to its end, has the answer, so
 * that it costs about as much as along the best of them. If none has when enough
 * was looked at, the one that has come furthest says where to go on.
 */
export async function race(scans: readonly Scan[], asked: Race): Promise<Looked<Document>> {
  const { limit, most, bytesRead } = asked;
  const lanes = scans.map((scan): Lane => ({ scan, found: [], at: undefined }));
  let left = most;
  let until = performance.now() + SLICE_MS;
  for (let step = FIRST_STEP; ; step = Math.min(step * 2, MAX_STEP)) {
    for (const { scan, found } of lanes) {
      const [before, looked] = [bytesRead(), scan.looked];
      found.push(...scan.look(Math.min(step, left), limit - found.length, () => bytesRead() - before < STEP_BYTES));
      left -= scan.looked - looked;
      if (found.length >= limit || (left === 0 ? !scan.hasMore() : scan.done)) return { found, end: undefined };
      if (left === 0 || bytesRead() >= MOST_BYTES) return furthestOf(lanes, asked);
    }
    if (performance.now() < until) continue;
    for (const lane of lanes) {
      lane.at = placeOf(lane, asked);
      lane.scan.gaveWay();
    }
    await nextTurn();
    until = performance.now() + SLICE_MS;
  }
}

function furthestOf(lanes: readonly Lane[], asked: Race): Looked<Document> {
  const ends = lanes.map((lane) => ({ found: lane.found, end: placeOf(lane, asked) }));
  return ends.reduce((best, next) => (isPast(next.end, best.end, asked.descending) ? next : best));
}

function placeOf({ scan, at }: Lane, { orderOf }: Race): string | undefined {
  return scan.last === undefined ? at : (orderOf(scan.last) ?? at);
}

function isPast(a: string | undefined, b: string | undefined, descending: boolean): boolean {
  if (a === undefined || b === undefined) return b === undefined;
  return descending ? a < b : a > b;
}
