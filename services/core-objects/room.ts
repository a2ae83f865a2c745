import { resourceExhausted } from "../shared/rpc/errors.js";
import type { Base, CollectionSpec, DocCollection } from "../shared/store/store.js";
import type { ObjectRecord } from "./record.js";

/** What the objects of one user may add up to, of all kinds. */
export interface ObjectQuota {
  readonly objects: number;
  readonly bytes: number;
}

/** What a user may have where nothing else is said. */
export const OBJECT_QUOTA: ObjectQuota = { objects: 200_000, bytes: 2 ** 30 };

/** What the objects of a user add up to; under the user's id. */
export interface RoomRecord extends Base {
  readonly objects: number;
  readonly bytes: number;
}

/** Where that is kept. */
export const ROOM_COLLECTION: CollectionSpec = { name: "object_room", indexes: [] };

/** The record that says that what was there before rooms were is counted: no user has such an id. */
const COUNTED = "counted";

/**
 * Counts the objects that were there before anybody counted; once, before the
 * service serves.
 */
export async function countRoom(
  rooms: DocCollection<RoomRecord>,
  collections: readonly DocCollection<ObjectRecord>[],
): Promise<void> {
  if ((await rooms.findOne({ _id: COUNTED })) !== null) return;
  const owners = new Map<string, { objects: number; bytes: number }>();
  for (const collection of collections) {
    for await (const object of collection.find({ owner: { $gt: "" } })) {
      const { objects, bytes } = owners.get(object.owner) ?? { objects: 0, bytes: 0 };
      owners.set(object.owner, { objects: objects + 1, bytes: bytes + bytesOf(object) });
    }
  }
  for (const [_id, taken] of owners) await rooms.updateOne({ _id }, { $set: taken }, { upsert: true });
  await rooms.updateOne({ _id: COUNTED }, { $set: { objects: 0, bytes: 0 } }, { upsert: true });
}

/** How the objects of their owners add up. Company-managed and built-in objects have no owner and need no room. */
export interface Room {
  /**
   * Takes room for what an object grows by, before it is written; gives room back
   * for what it shrinks by.
   *
   * @throws ConnectError resource_exhausted, where the owner has none.
   */
  take(owner: string, objects: number, bytes: number): Promise<void>;
}

/** Counts in a collection: an increment and its check are one step of one record. */
export function createRoom(collection: DocCollection<RoomRecord>, quota: ObjectQuota): Room {
  return {
    async take(owner, objects, bytes) {
      if (owner === "" || (objects === 0 && bytes === 0)) return;
      const by = { $inc: { objects, bytes } };
      const after = await collection.findOneAndUpdate({ _id: owner }, by, { upsert: true, returnDocument: "after" });
      const grows = objects > 0 || bytes > 0;
      if (!grows || after === null || (after.objects <= quota.objects && after.bytes <= quota.bytes)) return;
      await collection.updateOne({ _id: owner }, { $inc: { objects: -objects, bytes: -bytes } });
      throw resourceExhausted(
        `the owner's objects have room for ${quota.objects} and ${Math.floor(quota.bytes / 2 ** 20)} MiB together: delete some first`,
      );
    },
  };
}

/** The bytes that an object takes, about. */
export function bytesOf(record: ObjectRecord): number {
  return Buffer.byteLength(JSON.stringify(record));
}
