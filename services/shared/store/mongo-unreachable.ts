import { MongoBulkWriteError, MongoNetworkError, MongoServerSelectionError, MongoTopologyClosedError } from "mongodb";
import { unavailable } from "../rpc/errors.js";
import type { Base, DocCursor, DriverCollection } from "./store.js";

// To the driver a server that cannot be reached is an error like any other, and to a caller it would be one of ours that
// nobody can do anything about.

/** The same collection, whose operations fail with ConnectError unavailable if no server can be reached. */
export function orUnavailable<T extends Base>(collection: DriverCollection<T>): DriverCollection<T> {
  return told(collection, (made) => (isCursor(made) ? cursorOrUnavailable(made) : made));
}

function cursorOrUnavailable(cursor: DocCursor<unknown>): DocCursor<unknown> {
  const same: DocCursor<unknown> = told(cursor, (made) => (made === cursor ? same : made));
  return new Proxy(same, {
    get(target, name) {
      if (name !== Symbol.asyncIterator) return Reflect.get(target, name);
      return async function* () {
        try {
          for (let document = await same.next(); document !== null; document = await same.next()) yield document;
        } finally {
          await cursor.close();
        }
      };
    },
  });
}

/** An object whose promises say of a server that it cannot be reached. */
function told<O extends object>(object: O, as: (made: unknown) => unknown): O {
  return new Proxy(object, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...given: unknown[]) => {
        const made: unknown = method.apply(target, given);
        return made instanceof Promise ? made.catch(tell) : as(made);
      };
    },
  });
}

function tell(error: unknown): never {
  const isUnreachable =
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    error instanceof MongoTopologyClosedError ||
    // Of the error of the network that ended it, it keeps the message alone; what a server says has a code.
    (error instanceof MongoBulkWriteError && error.code === undefined && [error.writeErrors].flat().length === 0);
  throw isUnreachable ? unavailable("the database cannot be reached now: try again in a few seconds", error) : error;
}

function isCursor(made: unknown): made is DocCursor<unknown> {
  return typeof (made as { toArray?: unknown } | undefined)?.toArray === "function";
}
