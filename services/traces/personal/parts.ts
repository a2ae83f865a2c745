import { along, type PersonalPart, type Placed, within } from "../../shared/personal/export-page.js";
import { pageId } from "../paged.js";
import { SpansOf } from "../spans-of.js";
import type { TraceRecord, TraceStore } from "../store.js";

/** Spans that are read in one go: of each there is as much as a segment holds. */
const AT_ONCE = 32;
/** Stands between a span and one of its pages. */
const PAGE = "\t";

/** What the traces service holds about a person: traces, and their spans with all that these say. */
export function partsOf(store: TraceStore, user: string): readonly PersonalPart[] {
  const traces = (after: string, from?: "at"): AsyncIterable<Placed<TraceRecord>> =>
    along(store.traces, { by: { user }, index: "user", order: "order", direction: -1 }, after, from);
  return [
    { kind: "trace", without: ["batches", "order"], read: (after) => traces(after) },
    {
      kind: "span",
      without: ["order", "fields"],
      read: (after) =>
        within(
          (from) => traces(from, "at"),
          ({ _id }, place) => spansOf(store, _id, place),
          after,
        ),
    },
  ];
}

/** Each span with what it says, and then the pages of what is too long for that. */
async function* spansOf(store: TraceStore, trace: string, after: string): AsyncIterable<Placed> {
  const [from = "", page] = after.split(PAGE);
  const all = await SpansOf.read(store, trace);
  if (from !== "") yield* pagesOf(store, trace, from, page === undefined ? 0 : Number(page) + 1);
  for (let at: string | undefined = from === "" ? undefined : from; ; ) {
    const { spans, end } = await all.after(at, AT_ONCE);
    for (const { span, fields } of spans) {
      const payload = fields === undefined ? await store.payloads.findOne({ _id: span._id }) : { fields };
      yield { place: span.order, record: { ...span, says: payload?.fields ?? [] } };
      if (fields === undefined) yield* pagesOf(store, trace, span.order, 0);
    }
    if (end === undefined) return;
    at = end;
  }
}

/** The pages of a span, from one on; only a span with documents of its own has some. */
async function* pagesOf(store: TraceStore, trace: string, order: string, from: number): AsyncIterable<Placed> {
  const span = await store.spans.findOne({ trace, order });
  if (span === null) return;
  for (let n = from; ; n++) {
    const found = await store.pages.findOne({ _id: pageId(span._id, n) });
    if (found === null) return;
    const bytes = Buffer.from(found.bytes).toString("base64");
    yield { place: `${order}${PAGE}${n}`, record: { span: span._id, page: n, bytes } };
  }
}
