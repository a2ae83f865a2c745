import { v7 as uuid } from "uuid";
import type { Log } from "../../shared/process/log.js";
import type { Filter } from "../../shared/store/store.js";
import type { Context } from "../context.js";
import type { KnowledgeBaseRecord } from "../kinds/knowledge-bases/record.js";
import { Claimed, LEASE_MS } from "./claimed.js";
import { LONG } from "./head-start.js";
import { ingest } from "./ingest.js";
import type { DocumentRecord } from "./records.js";

const POLL_MS = 2_000;
/** Documents that a process works on at a time; half of them at most are of one owner. */
const AT_ONCE = 8;
/** How long a document is worked on before others have their turn, in milliseconds. */
const TURN_MS = 3_000;

/** Makes documents searchable in the background. */
export interface Worker {
  close(): Promise<void>;
}

/**
 * Starts to work on what there is to do, some documents at a time, each for a
 * turn. All of it stands in the store: a document is taken up by a write that one
 * process wins, for a time that it prolongs while it works, and goes on where its
 * last turn or a process that ended left it.
 */
export function startWorker(context: Context, log: Log): Worker {
  const { knowledge } = context;
  const { pollMs = POLL_MS, leaseMs = LEASE_MS, atOnce = AT_ONCE, turnMs = TURN_MS } = knowledge.options;
  const closing = new AbortController();
  const { signal } = closing;
  let [isAwake, wake] = [true, () => {}];
  /** Whose documents were taken up since everybody had a turn. */
  const served = new Set<string>();
  /** What is worked on. */
  const working = new Map<Promise<void>, Pick<DocumentRecord, "owner" | "bytes">>();
  knowledge.wake = () => {
    isAwake = true;
    wake();
  };

  knowledge.failed = (error) => log.warn({ err: error }, "the database's search for vectors does not answer");

  async function run(): Promise<void> {
    await markOrphans(context);
    while (!signal.aborted) {
      isAwake = false;
      await reembedChanged(context);
      for (let document = await claim(); document !== null && !signal.aborted; document = await claim())
        begin(document);
      if (!isAwake && !signal.aborted) await asleep();
    }
  }

  function begin(document: DocumentRecord): void {
    const work = workOn(document)
      .catch((error: unknown) =>
        log.warn({ err: error, document: document._id }, "work on a document failed and is tried again later"),
      )
      .finally(() => {
        working.delete(work);
        knowledge.wake();
      });
    working.set(work, document);
  }

  /**
   * Owners take turns, so that nobody waits for the thousands of another. An owner with as many documents at work as
   * there are places left gets no more, so that the next to come finds one. Long documents have half of the places, and
   * those of one owner a quarter, so that short ones wait for short ones alone.
   */
  async function claim(): Promise<DocumentRecord | null> {
    const free = atOnce - working.size;
    if (free <= 0) return null;
    const counts = new Map<string, number>();
    const long = new Map<string, number>();
    for (const { owner, bytes } of working.values()) {
      counts.set(owner, (counts.get(owner) ?? 0) + 1);
      if (bytes > LONG) long.set(owner, (long.get(owner) ?? 0) + 1);
    }
    const full = [...counts].flatMap(([owner, count]) => (count >= free ? [owner] : []));
    const isFull = [...long.values()].reduce((sum, count) => sum + count, 0) >= Math.ceil(atOnce / 2);
    const fullOfLong = [...long].flatMap(([owner, count]) => (count >= Math.ceil(atOnce / 4) ? [owner] : []));
    const isShort = { bytes: { $lte: LONG } };
    const fits = isFull ? isShort : fullOfLong.length === 0 ? {} : { $or: [isShort, { owner: { $nin: fullOfLong } }] };
    const next =
      (await claimOf({ owner: { $nin: [...served, ...full] }, ...fits })) ??
      (served.size === 0 ? null : await claimOf({ owner: { $nin: full }, ...fits }));
    if (next === null || served.has(next.owner)) served.clear();
    if (next !== null) served.add(next.owner);
    return next;
  }

  function claimOf(whose: Filter<DocumentRecord>): Promise<DocumentRecord | null> {
    const now = Date.now();
    return knowledge.documents.findOneAndUpdate(
      { due: { $lte: new Date(now) }, ...whose },
      { $set: { due: new Date(now + leaseMs), claim: uuid() } },
      { sort: { due: 1 }, returnDocument: "after" },
    );
  }

  async function workOn(document: DocumentRecord): Promise<void> {
    const claimed = new Claimed(knowledge, document, log);
    const until = Date.now() + turnMs;
    try {
      const isDone = await ingest(context, document, { signal, isOver: () => Date.now() >= until });
      await claimed.stop();
      if (!isDone) await claimed.release();
    } catch (error) {
      await claimed.stop();
      if (!signal.aborted) await claimed.failed(error as Error);
    }
  }

  function asleep(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pollMs);
      timer.unref();
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function forever(): Promise<void> {
    while (!signal.aborted) {
      try {
        await run();
      } catch (error) {
        if (signal.aborted) return;
        log.error({ err: error }, "work on documents stopped and starts again");
        await asleep();
      }
    }
  }

  const running = forever();
  return {
    async close() {
      closing.abort();
      wake();
      await running;
      await Promise.all(working.keys());
    },
  };
}

/** Documents of a knowledge base that was deleted by a process that ended before it marked them. */
async function markOrphans(context: Context): Promise<void> {
  const { documents } = context.knowledge;
  let after = "";
  for (;;) {
    const next = await documents.findOne(
      { knowledge_base: { $gt: after } },
      { sort: { knowledge_base: 1 }, hint: "base", projection: { knowledge_base: 1 } },
    );
    if (next === null) return;
    after = next.knowledge_base;
    if ((await context.collection("knowledge base").findOne({ _id: after }, { projection: { _id: 1 } })) === null)
      await markLeaving(context, after);
  }
}

/** Marks the documents of a knowledge base that is gone, for the worker to take away. */
export async function markLeaving({ knowledge }: Context, base: string): Promise<void> {
  const marked = { state: "leaving" as const, due: new Date(), generation: Number.MAX_SAFE_INTEGER };
  await knowledge.documents.updateMany({ knowledge_base: base }, { $set: marked });
  knowledge.wake();
}

/** Documents of knowledge bases whose embedder is another one now wait to be embedded by it. */
async function reembedChanged(context: Context): Promise<void> {
  const bases = context.collection<KnowledgeBaseRecord>("knowledge base");
  for (const base of await bases.find({ reembed: true }, { limit: 100 }).toArray()) {
    const { _id, integrations, embedding_model } = base;
    const again = { due: new Date(), claim: "", total: 0, done: 0, attempts: 0, problem: "" };
    // In this order nothing is left out that goes from one state to another meanwhile: once its generation has changed, a
    // document that waits does not get to the next state.
    for (const [state, among] of [
      ["waiting", ["waiting", "failed"]],
      // Found by its words, as before.
      ["words", ["ready", "words"]],
      ["waiting", ["failed"]],
    ] as const)
      await context.knowledge.documents.updateMany(
        { knowledge_base: _id, state: { $in: among } },
        { $inc: { generation: 1 }, $set: { state, ...again } },
      );
    await bases.updateOne({ _id, integrations, embedding_model }, { $set: { reembed: false } });
  }
}
