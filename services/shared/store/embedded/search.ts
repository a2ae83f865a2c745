import type { Document } from "mongodb";
import { withoutPaths } from "./constraints.js";
import { readersOf } from "./environment.js";
import type { Fields } from "./fields.js";
import { onOtherWay } from "./other-way.js";
import type { Plan } from "./plan.js";
import { rawTestOf } from "./raw-test.js";
import { type Reading, readingOf } from "./reading.js";
import type { Records } from "./records.js";
import { type ReadEntry, Scan, type Walkable } from "./scan.js";

/** A way to what is looked for, and how its index is walked. */
export interface PlannedWay {
  readonly by: Document;
  readonly plan: Plan<Walkable>;
}

/** What all ways give and the filter wants. */
export interface Sought {
  readonly ways: readonly PlannedWay[];
  /** What is demanded in addition to what the ways are by. */
  readonly range: Document;
  readonly wanted: Document;
  readonly fields: Fields;
}

/** Scans for the same documents, one along each way that has their order. */
export interface Search {
  readonly scans: readonly Scan[];
  /** Bytes of documents that they have read. */
  bytesRead(): number;
}

/**
 * Begins a search. Whether a document is on the other ways is told by their keys, as far as these can tell it; what is left
 * is read once, whichever scan comes to it first.
 */
export function searchFor(records: Records, { ways, range, wanted, fields }: Sought): Search {
  const lanes = ways.filter(({ plan }) => plan.sorted);
  const tests = lanes.map((lane) => ways.map((way) => (way === lane ? ALWAYS : onOtherWay(lane.plan, way.plan))));
  const untold = ways.filter((_, i) => tests.some((ofLane) => ofLane[i] === undefined)).map(({ by }) => by);
  const uncovered = lanes.map(({ by, plan }) => withoutPaths({ ...by, ...range }, plan.covered));
  const rest = [...untold, ...uncovered, wanted].filter((one) => Object.keys(one).length > 0);
  const filter = rest.length === 0 ? {} : { $and: rest };
  // Made for the first document: many searches find no entry that is on every way.
  let reading: Reading | undefined;
  let bytesRead = 0;
  const readCounted = (bytes: Buffer): Document | undefined => {
    bytesRead += bytes.length;
    reading ??= afterRawTest(filter, readingOf(readersOf(records.documents), filter, fields));
    return reading(bytes);
  };
  const known = lanes.length > 1 ? new Map<unknown, Document | undefined>() : undefined;
  const scans = lanes.map(({ plan }, lane) => {
    const told = (tests[lane] ?? []).filter((test) => test !== undefined && test !== ALWAYS) as (typeof ALWAYS)[];
    const readEntry: ReadEntry = (id, key, prefix) => {
      if (known?.has(id)) return known.get(id);
      if (!told.every((isOn) => isOn(key, prefix))) return undefined;
      const document = records.read(id as string, readCounted);
      known?.set(id, document);
      return document;
    };
    return new Scan({ ...plan, exact: false }, readEntry);
  });
  return { scans, bytesRead: () => bytesRead };
}

/** Most documents that do not match are told by their bytes, before a field of them is read. */
function afterRawTest(filter: Document, reading: Reading): Reading {
  const leavesRoom = rawTestOf(filter);
  return leavesRoom === undefined
    ? reading
    : (bytes) => (leavesRoom(bytes.toString("latin1")) ? reading(bytes) : undefined);
}

const ALWAYS = (_key: Buffer, _prefix: number): boolean => true;
