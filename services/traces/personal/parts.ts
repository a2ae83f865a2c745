import { along, type PersonalPart, type Placed, within } from "../../shared/personal/export-page.js";
import { pageId } from "../paged.js";
import type { SpanRecord, TraceRecord, TraceStore } from "../store.js";

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
  const how = { by: { trace }, index: "trace", order: "order", direction: 1 } as const;
  for await (const { place, record } of along(store.spans, how, from, "at")) {
    const span = record as SpanRecord;
    const isKnown = from !== "" && place === from;
    if (!isKnown) {
      const payload = await store.payloads.findOne({ _id: span._id });
      yield { place, record: { ...span, says: payload?.fields ?? [] } };
    }
    for (let n = isKnown && page !== undefined ? Number(page) + 1 : 0; ; n++) {
      const found = await store.pages.findOne({ _id: pageId(span._id, n) });
      if (found === null) break;
      const bytes = Buffer.from(found.bytes).toString("base64");
      yield { place: `${place}${PAGE}${n}`, record: { span: span._id, page: n, bytes } };
    }
  }
}
