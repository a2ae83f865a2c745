import type { Log } from "../../shared/process/log.js";
import type { Context } from "../context.js";
import type { KnowledgeBaseRecord } from "../kinds/knowledge-bases/record.js";
import { MEMORY_MEGABYTES } from "./ranking.js";

/** Knowledge bases that are read, at most: as many as one search looks in. */
const MOST = 200;

/** Reads knowledge bases into memory. */
export interface WarmUp {
  /** When all is read that will be. */
  readonly done: Promise<void>;
  close(): Promise<void>;
}

/**
 * Reads knowledge bases into memory after a start, the newest first, until half of the memory for them is taken: the
 * first search does not wait for it. It goes document by document, so that nobody waits for it either.
 */
export function startWarmUp(context: Context, log: Log): WarmUp {
  const { ranking, options } = context.knowledge;
  const room = ((options.memoryMegabytes ?? MEMORY_MEGABYTES) * 2 ** 20) / 2;
  let isClosed = false;

  async function run(): Promise<void> {
    const projection = { revision: 1, enabled: 1 };
    const bases = await context
      .collection<KnowledgeBaseRecord>("knowledge base")
      .find({}, { sort: { _id: -1 }, limit: MOST, projection })
      .toArray();
    for (const { _id: id, revision, enabled } of bases) {
      if (isClosed || ranking.heldBytes() > room) return;
      if (enabled) await ranking.load({ id, revision }, false);
    }
  }

  const done = run().catch((error: unknown) => {
    if (!isClosed)
      log.warn({ err: error }, "knowledge bases could not be read ahead; a search reads them when it comes");
  });
  return {
    done,
    async close() {
      isClosed = true;
      await done;
    },
  };
}
