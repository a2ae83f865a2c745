import type { Base, CollectionSpec, DocCollection, Store, Write } from "../shared/store/store.js";

// A trace is kept apart for every user who sends spans of it, so that nobody
// reads another's spans, or writes into them, by using their trace id.

/** What one user's spans of a trace add up to. */
export interface TraceRecord extends Base {
  /** Lower-case hexadecimal, as W3C has it. */
  readonly trace_id: string;
  /** Whose credential sent the spans. */
  readonly user: string;
  /** Ids of agents that the sender could use and the spans name: all of them, since they say who reads. The sets are absent while empty. */
  readonly agents?: readonly string[];
  /** Names of agents that are none of these, such as those of other programs. */
  readonly external?: readonly string[];
  readonly name: string;
  /** The outermost span; absent until it has come. */
  readonly root?: string;
  readonly fields?: readonly FieldRecord[];
  /** The input of the first span that has one; absent while none has. */
  readonly first_input?: readonly FirstInput[];
  readonly sources?: readonly string[];
  readonly models?: readonly string[];
  readonly tools?: readonly string[];
  readonly started_at: Date;
  readonly ended_at: Date;
  /** The start as ISO 8601 and the id: what lists are ordered and cut by. */
  readonly order: string;
  readonly span_count: number;
  readonly error_count: number;
  /** Set with the first of the errors: failed traces are found by it. */
  readonly failed?: true;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Digests of the latest deliveries that are counted, so that one that is repeated is not counted twice. */
  readonly batches: readonly string[];
  readonly expires_at: Date;
}

/**
 * Spans of one trace and one resource that came together, as they came: protobuf, one behind the other. Under the trace
 * record's id and a fingerprint of their heads (head.ts).
 */
export interface SegmentRecord extends Base {
  /** Absent where the export has none. */
  readonly resource?: Uint8Array;
  readonly spans: Uint8Array;
  readonly expires_at: Date;
}

/** A part of the list of a trace's spans. Under the trace record's id and the number of the part. */
export interface ListRecord extends Base {
  readonly segments: readonly ListedSegment[];
  readonly span_count: number;
  readonly expires_at: Date;
}

/** A segment, and the heads of its spans. */
export interface ListedSegment {
  readonly segment: string;
  readonly heads: Uint8Array;
  readonly expires_at: Date;
}

/** A span without its payload; stored where the span is too long for a segment, or was taken in before there were any. */
export interface SpanRecord extends Base {
  /** The trace record's id. */
  readonly trace: string;
  readonly span_id: string;
  /** "" for the outermost. */
  readonly parent_span_id: string;
  readonly name: string;
  readonly operation: string;
  readonly error: boolean;
  readonly started_at: Date;
  readonly duration_ms: number;
  /** The start in nanoseconds, what comes first of equals, and the id: what a trace's spans are ordered by. */
  readonly order: string;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly model: string;
  readonly tool: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** The first of its fields, begun. */
  readonly fields: readonly FieldRecord[];
  readonly field_count: number;
  readonly expires_at: Date;
}

/** The beginning of a field. */
export interface FieldRecord {
  readonly field: string;
  readonly preview: string;
  readonly bytes: number;
}

/** An input, and whose. */
export interface FirstInput extends FieldRecord {
  readonly span_id: string;
  /** The span's, of which the least is kept. */
  readonly order: string;
}

/** Every field of a span: short ones whole, of the others where they are; under the span's id. */
export interface PayloadRecord extends Base {
  readonly fields: readonly KeptField[];
  readonly expires_at: Date;
}

/** A field, or another name for one. */
export type PayloadField = WholeField | OtherName;

/** A field as it is kept. */
export type KeptField = WholeField | PagedField | OtherName;

interface WholeField {
  readonly field: string;
  readonly text: string;
  readonly json: boolean;
}

/** So many bytes of UTF-8, from that one on of all that the span's pages hold. */
export interface PagedField {
  readonly field: string;
  readonly at: number;
  readonly bytes: number;
  readonly json: boolean;
}

interface OtherName {
  readonly field: string;
  readonly same: string;
}

/** A part of what is too long for the payload record, under the span's id and the number of the page. */
export interface PageRecord extends Base {
  /** PAGE_BYTES of them, on the last page fewer. */
  readonly bytes: Uint8Array;
  readonly expires_at: Date;
}

/** What the spans of a user add up to that end on one day. */
export interface UsageRecord extends Base {
  readonly user: string;
  readonly spans: number;
  readonly bytes: number;
  /** The end of that day. */
  readonly expires_at: Date;
}

/** The records of this service. */
export interface TraceStore {
  readonly traces: DocCollection<TraceRecord>;
  readonly segments: DocCollection<SegmentRecord>;
  readonly lists: DocCollection<ListRecord>;
  readonly spans: DocCollection<SpanRecord>;
  readonly payloads: DocCollection<PayloadRecord>;
  readonly pages: DocCollection<PageRecord>;
  readonly usage: DocCollection<UsageRecord>;
  /** As that of the store. */
  inOrder(writes: readonly Write[]): Promise<void>;
}

// Each document says itself when it ends, so that another retention needs no
// other index. What is past that is left out of reads until it is deleted.
const EXPIRY = { name: "expiry", key: { expires_at: 1 }, expireAfterSeconds: 0 } as const;

/** The collections of this service. */
export const COLLECTIONS: readonly CollectionSpec[] = [
  {
    name: "traces",
    environment: "traces",
    indexes: [
      { name: "order", key: { order: -1 } },
      { name: "agents", key: { agents: 1, order: -1 } },
      { name: "sources", key: { sources: 1, order: -1 } },
      { name: "models", key: { models: 1, order: -1 } },
      { name: "user", key: { user: 1, order: -1 } },
      { name: "external", key: { external: 1, order: -1 } },
      { name: "failed", key: { failed: 1, order: -1 } },
      { name: "trace_id", key: { trace_id: 1 } },
      EXPIRY,
    ],
    migrations: [
      { filter: { error_count: { $gt: 0 }, failed: { $exists: false } }, update: { $set: { failed: true } } },
    ],
  },
  { name: "span_segments", environment: "traces", indexes: [EXPIRY] },
  { name: "span_lists", environment: "traces", indexes: [EXPIRY] },
  {
    name: "spans",
    environment: "traces",
    indexes: [{ name: "trace", key: { trace: 1, order: 1 } }, EXPIRY],
    // It changes nothing: a version that knows no segments would show traces without their spans, and refuses the store instead.
    migrations: [{ filter: { _id: "" }, update: { $unset: { none: "" } } as never }],
  },
  { name: "span_payloads", environment: "traces", indexes: [EXPIRY] },
  { name: "span_pages", environment: "traces", indexes: [EXPIRY] },
  { name: "span_usage", environment: "traces", indexes: [{ name: "user", key: { user: 1 } }, EXPIRY] },
];

/** Opens this service's collections, creating what is missing. */
export async function openTraceStore(store: Store): Promise<TraceStore> {
  await store.ensure(COLLECTIONS);
  return traceStoreOf(store);
}

/** This service's collections, of a store where they are. */
export function traceStoreOf(store: Pick<Store, "collection" | "inOrder">): TraceStore {
  return {
    inOrder: (writes) => store.inOrder(writes),
    traces: store.collection("traces"),
    segments: store.collection("span_segments"),
    lists: store.collection("span_lists"),
    spans: store.collection("spans"),
    payloads: store.collection("span_payloads"),
    pages: store.collection("span_pages"),
    usage: store.collection("span_usage"),
  };
}
