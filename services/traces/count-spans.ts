import type { UpdateFilter } from "../shared/store/store.js";
import { isDuplicateKey } from "../shared/store/store.js";
import { digest } from "./digest.js";
import { ownsTokens } from "./gen-ai.js";
import { failuresOf } from "./insert-new.js";
import type { ReadSpan } from "./span.js";
import type { TraceRecord, TraceStore } from "./store.js";

/** Names kept of each kind; who reads depends on the agents, so that a trace of more of them is refused before. */
export const MAX_NAMES = 100;
const BATCHES_REMEMBERED = 64;

/** What a trace names. */
export type TraceNames = Pick<TraceRecord, "agents" | "external" | "sources" | "models" | "tools">;

/** Spans of one trace that came together. */
export interface Batch {
  /** The trace record's id. */
  readonly trace: string;
  /** Whose credential sent them. */
  readonly user: string;
  /** At least one. */
  readonly spans: readonly ReadSpan[];
  /** What the trace is known to name already; undefined where it is not there. */
  readonly known: TraceNames | undefined;
  /** The agents that the sender can use: only these take spans as their own. */
  readonly usable: ReadonlySet<string>;
  readonly expiresAt: Date;
}

/**
 * Adds batches of different traces to what these add up to, each in one atomic
 * update. An exporter that got no answer sends the same batch again: its digest,
 * remembered with the sums, keeps them right.
 */
export async function countSpans({ traces }: TraceStore, batches: readonly Batch[]): Promise<void> {
  const updates = batches.map((batch) => {
    const id = digest(
      batch.spans
        .map(({ facts }) => facts.span_id)
        .sort()
        .join(),
    );
    const update = {
      ...wholeOf(batch),
      ...sumsOf(batch),
      $push: { batches: { $each: [id], $slice: -BATCHES_REMEMBERED }, ...firstInputOf(batch) },
    } as unknown as UpdateFilter<TraceRecord>;
    return { filter: { _id: batch.trace, batches: { $ne: id } }, update };
  });
  const all = (upsert: boolean) =>
    traces.bulkWrite(
      updates.map((one) => ({ updateOne: { ...one, upsert } })),
      { ordered: false },
    );
  try {
    await all(true);
  } catch (error) {
    if (!failuresOf(error).every(isDuplicateKey)) throw error;
    // Some traces are there: these batches are counted already, or other ones began them just now.
    await all(false);
  }
}

/** What the trace is about, and when it began and ended. */
function wholeOf({ trace, user, spans, expiresAt }: Batch) {
  const facts = spans.map((span) => span.facts);
  const earliest = (a: ReadSpan["facts"], b: ReadSpan["facts"]) => (a.order < b.order ? a : b);
  const first = facts.reduce(earliest);
  const root = spans.find(({ outermost }) => outermost === "yes")?.facts;
  // Several may have a parent elsewhere: what began first made the others happen.
  const [some, ...others] = spans.flatMap((span) => (span.outermost === "here" ? [span.facts] : []));
  const local = some && others.reduce(earliest, some);
  const hasFailed = facts.some(({ error }) => error);
  const about = ({ name, span_id, fields }: ReadSpan["facts"]) => ({
    name,
    root: span_id,
    fields: fields.filter(({ field }) => field === "input" || field === "output" || field === "error"),
  });
  return {
    $setOnInsert: {
      trace_id: spans[0]!.traceId,
      user,
      ...(root === undefined && (local === undefined ? { name: first.name } : about(local))),
    },
    ...((root !== undefined || hasFailed) && {
      $set: { ...(root !== undefined && about(root)), ...(hasFailed && { failed: true }) },
    }),
    $min: { started_at: first.started_at, order: `${first.started_at.toISOString()}.${trace}` },
    $max: {
      ended_at: new Date(Math.max(...facts.map((span) => span.started_at.getTime() + span.duration_ms))),
      expires_at: expiresAt,
    },
  };
}

/** Whichever batch comes first, the first input stays: of what is there and what comes the least is kept. */
function firstInputOf({ spans }: Batch) {
  const inputs = spans.flatMap(({ facts: { span_id, order, fields } }) =>
    fields.filter(({ field }) => field === "input").map((field) => ({ ...field, span_id, order })),
  );
  const first = inputs.sort((a, b) => (a.order < b.order ? -1 : 1))[0];
  return first === undefined ? {} : { first_input: { $each: [first], $sort: { order: 1 }, $slice: 1 } };
}

/** What its spans add up to. */
function sumsOf({ spans, usable, known = {} }: Batch) {
  const facts = spans.map((span) => span.facts);
  const own = facts.filter(({ operation }) => ownsTokens(operation));
  const sum = (of: readonly number[]): number => of.reduce((a, b) => a + b, 0);
  return {
    $addToSet: eachOf({
      agents: agentsOf(spans, usable),
      external: newNames(facts.filter(({ agent_id }) => !usable.has(agent_id)).map(externalName), known.external),
      sources: newNames(
        spans.map(({ source }) => source),
        known.sources,
      ),
      models: newNames(
        facts.map(({ model }) => model),
        known.models,
      ),
      tools: newNames(
        facts.map(({ tool }) => tool),
        known.tools,
      ),
    }),
    $inc: {
      span_count: facts.length,
      error_count: facts.filter(({ error }) => error).length,
      input_tokens: sum(own.map(({ input_tokens }) => input_tokens)),
      output_tokens: sum(own.map(({ output_tokens }) => output_tokens)),
    },
  };
}

/** How an agent of another program is called: by its name, or by the id that this program gives it. */
function externalName({ agent_name, agent_id }: ReadSpan["facts"]): string {
  return agent_name === "" ? agent_id : agent_name;
}

/** The agents whose the spans are. */
export function agentsOf(spans: readonly ReadSpan[], usable: ReadonlySet<string>): string[] {
  return [...new Set(spans.map(({ facts }) => facts.agent_id))].filter((id) => usable.has(id));
}

/** Those that are not known, as far as there is room beside the known. */
function newNames(names: readonly string[], known: readonly string[] = []): string[] {
  const fresh = [...new Set(names)].filter((name) => name !== "" && !known.includes(name));
  return fresh.slice(0, Math.max(0, MAX_NAMES - known.length));
}

function eachOf(sets: Readonly<Record<string, readonly string[]>>): Record<string, { $each: readonly string[] }> {
  const filled = Object.entries(sets).filter(([, words]) => words.length > 0);
  return Object.fromEntries(filled.map(([name, words]) => [name, { $each: words }]));
}
