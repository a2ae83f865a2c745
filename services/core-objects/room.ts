import { resourceExhausted } from "../shared/rpc/errors.js";
import type { Base, CollectionSpec, DocCollection } from "../shared/store/store.js";
import { COMPANY } from "./company.js";
import type { ObjectRecord } from "./record.js";

// Everything that is stored counts to its owner and to the deployment. It is
// counted before it is written, and given back after it is deleted: a process
// that ends in between leaves too much counted, never too little, and
// count-room.ts corrects it.

/** What one owner may store, and the deployment. */
export interface ObjectQuota {
  /** Objects of all kinds, and documents. */
  readonly objects: number;
  /** Bytes of objects of all kinds. */
  readonly bytes: number;
  /** Bytes of documents: texts, passages and vectors. */
  readonly knowledge: number;
  /** Bytes of runs and their steps. */
  readonly runs: number;
  /** Bytes of the objects and documents of all owners. */
  readonly deployment: number;
  /** Bytes of the runs of all owners. */
  readonly deploymentRuns: number;
}

/** What may be stored if nothing else is set. */
export const OBJECT_QUOTA: ObjectQuota = {
  objects: 200_000,
  bytes: 2 ** 30,
  knowledge: 2 ** 30,
  runs: 2 ** 29,
  deployment: 50 * 2 ** 30,
  deploymentRuns: 20 * 2 ** 30,
};

/** What is stored of one owner, or of all of them. */
export interface Amounts {
  readonly objects: number;
  readonly bytes: number;
  readonly documents: number;
  readonly knowledge: number;
}

/** Amounts as they are kept, under the owner's id. */
export interface RoomRecord extends Base, Partial<Amounts> {
  /** When they last changed. */
  readonly touched_at?: Date;
  /** When they were last counted; absent until then. */
  readonly counted_at?: Date;
}

/** Where that is kept. */
export const ROOM_COLLECTION: CollectionSpec = {
  name: "object_room",
  indexes: [{ name: "counted", key: { counted_at: 1, touched_at: 1 } }],
};

/** The record of all owners together: no user has such an id. */
export const DEPLOYMENT = "deployment";

/** What is stored, by owner. What is built in has no owner and is not counted. */
export interface Room {
  readonly quota: ObjectQuota;
  /**
   * Counts what an object grows by, before it is written, or shrinks by, after it is.
   *
   * @throws ConnectError resource_exhausted if the owner or the deployment stores too much.
   */
  take(owner: string, objects: number, bytes: number): Promise<void>;
  /** The same for documents, and the bytes of their texts, passages and vectors. */
  takeKnowledge(owner: string, documents: number, bytes: number): Promise<void>;
  /**
   * Counts what an owner is given by another one, before it is written, or has given, after it is: the deployment
   * stores as much as before.
   *
   * @throws ConnectError resource_exhausted if the owner stores too much.
   */
  pass(owner: string, by: Partial<Amounts>): Promise<void>;
  /** @throws ConnectError resource_exhausted if an owner has no room for this at the moment. */
  check(owner: string, by: Partial<Amounts>): Promise<void>;
  /** What an owner stores; {@link DEPLOYMENT} for all. */
  of(owner: string): Promise<Amounts>;
}

/** Counts in a collection: an increment and its check are one step of one record. */
export function createRoom(collection: DocCollection<RoomRecord>, quota: ObjectQuota): Room {
  async function add(_id: string, by: Partial<Amounts>): Promise<Amounts> {
    const change = { $inc: by, $set: { touched_at: new Date() } };
    // What is given back for somebody who was erased meanwhile makes no record of them again, and none is left.
    const upsert = Object.values(by).some((one) => one > 0);
    const after = await collection.findOneAndUpdate({ _id }, change, { upsert, returnDocument: "after" });
    const own = amountsOf(after);
    if (!upsert && after !== null && isNothing(own)) await collection.deleteOne({ _id, ...NOTHING } as never);
    return own;
  }

  async function take(said: string, by: Partial<Amounts>): Promise<void> {
    const owner = said === "" ? COMPANY : said;
    const values = Object.values(by);
    if (values.every((one) => one === 0)) return;
    const grows = values.some((one) => one > 0);
    const own = await add(owner, by);
    const undone = negated(by);
    const full = grows ? fullOf(own, by, quota) : undefined;
    if (full !== undefined) {
      await add(owner, undone);
      throw resourceExhausted(full);
    }
    const all = await add(DEPLOYMENT, by);
    if (!grows || all.bytes + all.knowledge <= quota.deployment) return;
    await add(owner, undone);
    await add(DEPLOYMENT, undone);
    throw resourceExhausted(
      `the ${mebibytes(quota.deployment)} MiB that this deployment has for objects and documents are in use: delete some, or ask an administrator to raise STORED_MEGABYTES`,
    );
  }

  return {
    quota,
    take: (owner, objects, bytes) => take(owner, { objects, bytes }),
    takeKnowledge: (owner, documents, knowledge) => take(owner, { documents, knowledge }),
    async pass(owner, by) {
      const full = fullOf(await add(owner, by), by, quota);
      if (full === undefined) return;
      await add(owner, negated(by));
      throw resourceExhausted(full);
    },
    async check(owner, by) {
      const own = amountsOf(await collection.findOne({ _id: owner }));
      const after = Object.fromEntries(Object.entries(by).map(([what, n]) => [what, own[what as keyof Amounts] + n]));
      const full = fullOf({ ...own, ...after }, by, quota);
      if (full !== undefined) throw resourceExhausted(full);
    },
    async of(owner) {
      return amountsOf(await collection.findOne({ _id: owner }));
    },
  };
}

/** What an owner has too much of, in words for the owner. */
function fullOf(own: Amounts, by: Partial<Amounts>, quota: ObjectQuota): string | undefined {
  const { objects = 0, bytes = 0, documents = 0, knowledge = 0 } = by;
  const isMany = objects + documents > 0 && own.objects + own.documents > quota.objects;
  if (isMany || (bytes > 0 && own.bytes > quota.bytes))
    return `the owner may have at most ${quota.objects} objects and documents, and ${mebibytes(quota.bytes)} MiB of objects: delete some first`;
  if (knowledge > 0 && own.knowledge > quota.knowledge)
    return `the owner may have at most ${mebibytes(quota.knowledge)} MiB of documents, with their passages and vectors: delete some first`;
  return undefined;
}

/** The amounts of a record; none for no record. */
export function amountsOf(record: Partial<Amounts> | null): Amounts {
  const { objects = 0, bytes = 0, documents = 0, knowledge = 0 } = record ?? {};
  return { objects, bytes, documents, knowledge };
}

function isNothing(own: Amounts): boolean {
  return Object.values(own).every((amount) => amount === 0);
}

/** Matches a record whose amounts are all 0 or absent: one that has grown meanwhile is not deleted. */
const NOTHING = Object.fromEntries(Object.keys(amountsOf(null)).map((what) => [what, { $in: [0, null] }]));

function negated(by: Partial<Amounts>): Partial<Amounts> {
  return Object.fromEntries(Object.entries(by).map(([what, amount]) => [what, -amount]));
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / 2 ** 20);
}

/** What a number, a date, a word or an object takes, about, in bytes. */
const VALUE_BYTES = 9;
/** What says of which kind a value is and how long, in bytes. */
const HEAD_BYTES = 3;

/** What an entry of an index takes, about, in bytes: a lock or an id, and the id of the object. */
const ENTRY_BYTES = 100;
/** Indexes with an entry for each lock of an object. */
const INDEXES_OF_LOCKS = 3;

/** What the field takes that says what an object takes, about, in bytes: its name. */
const TAKEN_BYTES = sizeOf("taken");

/** The bytes that an object takes with its entries in indexes, about. */
export function bytesOf(record: ObjectRecord): number {
  let bytes = VALUE_BYTES + TAKEN_BYTES;
  for (const name in record) {
    if (name === "taken") continue;
    const value: unknown = record[name as keyof ObjectRecord];
    bytes += sizeOf(name) + sizeOf(value);
    // What others or the object's references are found by has an entry for each item.
    if (Array.isArray(value)) bytes += ENTRY_BYTES * (name === "access" ? INDEXES_OF_LOCKS : 1) * value.length;
  }
  return bytes;
}

/** The bytes that a value takes in the store, about. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return HEAD_BYTES + Buffer.byteLength(value);
  if (value === undefined) return 0;
  if (typeof value !== "object" || value === null || value instanceof Date) return VALUE_BYTES;
  let bytes = VALUE_BYTES;
  if (Array.isArray(value)) for (const item of value) bytes += sizeOf(item);
  else for (const [name, one] of Object.entries(value)) bytes += sizeOf(name) + sizeOf(one);
  return bytes;
}

/** The bytes that are counted for a stored object, whatever has been written in it since. */
export function takenBy(record: ObjectRecord): number {
  return record.taken ?? bytesOf(record);
}
