import { serveThread } from "../../../../../services/shared/process/thread.js";
import { openBeside } from "../../../../../services/shared/store/open.js";
import type { Base, CollectionSpec, OpenedBeside, StorePlace } from "../../../../../services/shared/store/store.js";

/** What the thread of the test writes: a number of documents, with these tags. */
export interface Written {
  readonly place: StorePlace;
  readonly spec: CollectionSpec;
  readonly from: number;
  readonly count: number;
  readonly tags: readonly string[];
}

interface Tagged extends Base {
  readonly n: number;
  readonly tags: readonly string[];
}

let opened: OpenedBeside | undefined;

const methods = {
  async write({ place, spec, from, count, tags }: Written): Promise<number> {
    opened ??= await openBeside(place, [spec]);
    const documents = Array.from({ length: count }, (_, i) => ({ _id: `t${from + i}`, n: from + i, tags }));
    const { insertedCount } = await opened.collection<Tagged>(spec.name).insertMany(documents);
    return insertedCount;
  },
  async close(): Promise<void> {
    await opened?.close();
    opened = undefined;
  },
};

export type BesideMethods = typeof methods;

serveThread(methods);
