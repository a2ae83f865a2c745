import { v7 as uuid } from "uuid";
import type { Log } from "../../shared/process/log.js";
import type { Filter } from "../../shared/store/store.js";
import type { Context } from "../context.js";
import type { KnowledgeBaseRecord } from "../kinds/knowledge-bases/record.js";
import { DocumentError } from "./document-error.js";
import { EmbedderError } from "./embedder.js";
import { ingest } from "./ingest.js";
import type { DocumentRecord } from "./records.js";

const POLL_MS = 2_000;
const LEASE_MS = 10_000;
/** Times that a document is tried before it failed, about six minutes in all. */
const ATTEMPTS = 8;
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 120_000;

/** Makes documents searchable in the background. */
export interface Worker {
  close(): Promise<void>;
}

/**
 * Starts to work on what there is to do, one document at a time. All of it
 * stands in the store: a document is taken up by a write that one process wins,
 * for a time that it prolongs while it works, and goes on where a process that
 * ended left it.
 */
export function startWorker(context: Context, log: Log): Worker {
  const { knowledge } = context;
  const { pollMs = POLL_MS, leaseMs = LEASE_MS, firstWaitMs = FIRST_WAIT_MS } = knowledge.options;
  const closing = new AbortController();
  const { signal } = closing;
  let [isAwake, wake] = [true, () => {}];
  /** Whose documents were taken up since everybody had a turn. */
  const served = new Set<string>();
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
        await workOn(document);
      if (!isAwake && !signal.aborted) await asleep();
    }
  }

  /** Owners take turns, so that who adds thousands keeps nobody else waiting. */
  async function claim(): Promise<DocumentRecord | null> {
    const next = (await claimOf({ owner: { $nin: [...served] } })) ?? (served.size === 0 ? null : await claimOf({}));
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
    const beat = prolong(document);
    try {
      await ingest(context, document, { signal });
    } catch (error) {
      await beat.stop();
      if (!signal.aborted) await failed(document, error as Error);
    } finally {
      await beat.stop();
    }
  }

  /** Keeps a document to this process until it is stopped. */
  function prolong({ _id, claim }: DocumentRecord): { stop(): Promise<void> } {
    let last: Promise<unknown> = Promise.resolve();
    const timer = setInterval(() => {
      const due = { $set: { due: new Date(Date.now() + leaseMs) } };
      last = knowledge.documents
        .updateOne({ _id, claim, due: { $ne: null } }, due)
        .catch((error: unknown) => log.warn({ err: error, document: _id }, "a document is not kept for this process"));
    }, leaseMs / 3);
    timer.unref();
    return {
      async stop() {
        clearInterval(timer);
        await last;
      },
    };
  }

  async function failed({ _id, claim, generation, attempts }: DocumentRecord, error: Error): Promise<void> {
    const isOurs = !(error instanceof DocumentError || error instanceof EmbedderError);
    if (isOurs) log.error({ err: error, document: _id }, "a document could not be made searchable");
    const isPassing = !(error instanceof DocumentError || (error instanceof EmbedderError && !error.isPassing));
    const isOver = !isPassing || attempts + 1 >= ATTEMPTS;
    const wait = Math.min(LONGEST_WAIT_MS, firstWaitMs * 2 ** attempts);
    const problem = isOurs
      ? "it cannot be made searchable at the moment; the log of the service says why"
      : error.message;
    const after = isOver ? { state: "failed" as const, due: null } : { due: new Date(Date.now() + wait) };
    await knowledge.documents.updateOne(
      { _id, claim, generation, state: "waiting" },
      { $set: { ...after, problem, attempts: attempts + 1 } },
    );
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
        log.error({ err: error }, "work on documents stopped, and begins again");
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
    await context.knowledge.documents.updateMany(
      { knowledge_base: _id, state: { $in: ["ready", "waiting", "failed"] } },
      {
        $inc: { generation: 1 },
        $set: { state: "waiting", due: new Date(), claim: "", total: 0, done: 0, attempts: 0, problem: "" },
      },
    );
    await bases.updateOne({ _id, integrations, embedding_model }, { $set: { reembed: false } });
  }
}
