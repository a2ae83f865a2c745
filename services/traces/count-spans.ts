import { addTo } from "./add-to.js";
import type { ReadTrace } from "./gather.js";
import type { Gist } from "./gist.js";
import type { TraceRecord, TraceStore } from "./store.js";

/** Names kept of each kind; who reads depends on the agents, so that a trace of more of them is refused before. */
export const MAX_NAMES = 100;
const BATCHES_REMEMBERED = 64;

/** What a trace is known to have: how many spans, and which names. */
export type KnownTrace = Pick<TraceRecord, "span_count" | "agents" | "external" | "sources" | "models" | "tools">;
type TraceNames = Omit<KnownTrace, "span_count">;

/** Spans of one trace that came together. */
export interface Batch {
  /** The trace record's id. */
  readonly trace: string;
  /** Whose credential sent them. */
  readonly user: string;
  readonly read: Pick<ReadTrace, "traceId" | "batch" | "gist">;
  /** Undefined where the trace is not there. */
  readonly known: KnownTrace | undefined;
  /** The agents that the sender can use: only these take spans as their own. */
  readonly usable: ReadonlySet<string>;
  readonly expiresAt: Date;
}

/**
 * Adds batches of different traces to what these add up to, each in one atomic
 * update. An exporter that got no answer sends the same batch again: its digest,
 * remembered with the sums, keeps them right.
 */
export async function countSpans({ traces }: Pick<TraceStore, "traces">, batches: readonly Batch[]): Promise<void> {
  const additions = batches.map((one) => ({
    _id: one.trace,
    isThere: one.known !== undefined,
    guard: { batches: { $ne: one.read.batch } },
    update: updateOf(one),
  }));
  await addTo(traces, additions);
}

function updateOf({ trace, user, read: { traceId, batch, gist }, known, usable, expiresAt }: Batch) {
  const { name, root, local, firstInput, errors } = gist;
  const startedAt = new Date(gist.startedAt);
  const hasFailed = errors > 0;
  return {
    $setOnInsert: { trace_id: traceId, user, ...(root === undefined && (local ?? { name })) },
    ...((root !== undefined || hasFailed) && { $set: { ...root, ...(hasFailed && { failed: true }) } }),
    $min: { started_at: startedAt, order: `${startedAt.toISOString()}.${trace}` },
    $max: { ended_at: new Date(gist.endedAt), expires_at: expiresAt },
    $inc: {
      span_count: gist.spans,
      error_count: errors,
      input_tokens: gist.inputTokens,
      output_tokens: gist.outputTokens,
    },
    $addToSet: namesOf(gist, known ?? {}, usable),
    $push: {
      batches: { $each: [batch], $slice: -BATCHES_REMEMBERED },
      // Whichever batch comes first, the first input stays: of what is there and what comes the least is kept.
      ...(firstInput !== undefined && { first_input: { $each: [firstInput], $sort: { order: 1 }, $slice: 1 } }),
    },
  };
}

function namesOf(gist: Gist, known: TraceNames, usable: ReadonlySet<string>): Record<string, { $each: string[] }> {
  // An agent of another program is called by its name, or by the id that this program gives it.
  const external = gist.agents.filter(({ id }) => !usable.has(id)).map(({ id, name }) => name || id);
  const sets = {
    agents: agentsOf(gist, usable),
    external: newNames(external, known.external),
    sources: newNames(gist.sources, known.sources),
    models: newNames(gist.models, known.models),
    tools: newNames(gist.tools, known.tools),
  };
  const filled = Object.entries(sets).filter(([, words]) => words.length > 0);
  return Object.fromEntries(filled.map(([name, words]) => [name, { $each: words }]));
}

/** The agents whose the spans are. */
export function agentsOf({ agents }: Gist, usable: ReadonlySet<string>): string[] {
  return [...new Set(agents.map(({ id }) => id))].filter((id) => usable.has(id));
}

/** Those that are not known, as far as there is room beside the known. */
function newNames(names: readonly string[], known: readonly string[] = []): string[] {
  const fresh = [...new Set(names)].filter((name) => !known.includes(name));
  return fresh.slice(0, Math.max(0, MAX_NAMES - known.length));
}
