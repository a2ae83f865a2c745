import type { ListPage } from "../shared/store/page.js";
import { shapedOf } from "./shaped.js";
import { type Listed, SpanList } from "./span-list.js";
import type { KeptField, SegmentRecord, SpanRecord, TraceStore } from "./store.js";

/** A span, and all its fields. */
export interface WholeSpan {
  readonly span: SpanRecord;
  /** Undefined for one with documents of its own: they are in its payload record. */
  readonly fields: readonly KeptField[] | undefined;
}

/** The spans of a trace, wherever they are kept. */
export class SpansOf {
  private constructor(
    private readonly store: TraceStore,
    private readonly trace: string,
    private readonly list: SpanList,
  ) {}

  static async read(store: TraceStore, trace: string): Promise<SpansOf> {
    return new SpansOf(store, trace, await SpanList.read(store, trace));
  }

  /** A page of them, in their order. */
  async page(after: string | undefined, size: number): Promise<ListPage<SpanRecord>> {
    const { spans, end } = await this.after(after, size);
    return { items: spans.map(({ span }) => span), end, total: undefined };
  }

  /** The next ones, and where they end; undefined where there are no more. A span that expires meanwhile is left out. */
  async after(
    after: string | undefined,
    size: number,
  ): Promise<{ readonly spans: WholeSpan[]; readonly end: string | undefined }> {
    const filter = { trace: this.trace, ...(after !== undefined && { order: { $gt: after } }) };
    const own = await this.store.spans.find(filter, { sort: { order: 1 }, hint: "trace", limit: size + 1 }).toArray();
    const listed = this.list.after(after, size + 1);
    // One that came among few and among many at the same time is in both: it is shown once, as find has it.
    const orders = new Set(listed.map(({ order }) => order));
    const places = [...listed, ...own.filter(({ order }) => !orders.has(order))];
    places.sort((a, b) => (a.order < b.order ? -1 : 1));
    const [page, isMore] = [places.slice(0, size), places.length > size];
    const read = await this.#read(page.filter(isListed));
    const spans = page.flatMap((one) => (isListed(one) ? (read.get(one.id) ?? []) : { span: one, fields: undefined }));
    return { spans, end: isMore ? page.at(-1)?.order : undefined };
  }

  /** The span of an id that is in a segment. */
  async find(id: string): Promise<WholeSpan | undefined> {
    const place = this.list.find(id);
    return place === undefined ? undefined : (await this.#read([place])).get(id);
  }

  async #read(places: readonly Listed[]): Promise<Map<string, WholeSpan>> {
    const { trace } = this;
    const ids = [...new Set(places.map(({ segment }) => `${trace}.${segment}`))];
    const found = ids.length === 0 ? [] : await this.store.segments.find({ _id: { $in: ids } }).toArray();
    const segments = new Map(found.map((one) => [one._id, one]));
    return new Map(
      places.flatMap((place) => {
        const segment = segments.get(`${trace}.${place.segment}`);
        return segment === undefined ? [] : [[place.id, this.#wholeOf(segment, place)] as const];
      }),
    );
  }

  #wholeOf({ resource, spans }: SegmentRecord, { from, to, nth, expiresAt }: Listed): WholeSpan {
    const { facts, payload } = shapedOf(spans.subarray(from, to), resource, nth);
    const { trace } = this;
    return { span: { _id: `${trace}.${facts.span_id}`, ...facts, trace, expires_at: expiresAt }, fields: payload };
  }
}

function isListed(one: Listed | SpanRecord): one is Listed {
  return "segment" in one;
}
