import { MongoBulkWriteError, MongoNetworkError, MongoServerSelectionError, MongoTopologyClosedError } from "mongodb";
import { unavailable } from "../rpc/errors.js";

// To the driver a server that cannot be reached is an error like any other, and to a caller it would be one of ours that
// nobody can do anything about.

/**
 * The same object, whose promises, and those of the cursors and iterators that it makes, fail with ConnectError
 * unavailable if no server can be reached.
 */
export function orUnavailable<O extends object>(object: O): O {
  return new Proxy(object, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...given: unknown[]) => {
        const made: unknown = method.apply(target, given);
        if (made instanceof Promise) return made.catch(tell);
        return hasMore(made) ? orUnavailable(made) : made;
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

/** Whether it is a cursor or an iterator, of which promises come later. */
function hasMore(made: unknown): made is object {
  return typeof (made as { next?: unknown } | undefined)?.next === "function";
}
