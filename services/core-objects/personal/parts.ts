import { along, type PersonalPart, type Placed, within } from "../../shared/personal/export-page.js";
import { orderedKinds, wordOf } from "../belongings/sections.js";
import type { Context } from "../context.js";
import type { DocumentRecord } from "../knowledge/records.js";
import type { ObjectRecord } from "../record.js";
import type { RunRecord } from "../runs/record.js";

/** A document's text goes in pieces of this many characters. */
const PIECE = 48 << 10;
/** What finds an object, and what counts it, says nothing about a person. */
const INTERNAL = ["access", "request", "taken", "deleting", "sealed_with"];

/** What core holds about a person. */
export function partsOf(context: Context, owner: string): readonly PersonalPart[] {
  const { runs, steps, knowledge } = context;
  const objects = (noun: string, after: string, from?: "at") => {
    const how = { by: { owner }, index: "request", order: "request", direction: 1 } as const;
    return along(context.collection<ObjectRecord>(noun), how, after, from);
  };
  const runsFrom = (after: string, from?: "at"): AsyncIterable<Placed<RunRecord>> =>
    along(runs, { by: { owner }, index: "owner", order: "_id", direction: -1 }, after, from);
  const documentsOf = (base: string, after: string, from?: "at"): AsyncIterable<Placed<DocumentRecord>> =>
    along(
      knowledge.documents,
      { by: { knowledge_base: base }, index: "base", order: "_id", direction: -1 },
      after,
      from,
    );
  const bases = (from: string) => objects("knowledge base", from, "at");
  return [
    ...orderedKinds(context).map((kind) => ({
      kind: wordOf(kind),
      without: INTERNAL,
      read: (after: string) => objects(kind.noun, after),
    })),
    {
      kind: "document",
      without: ["request", "claim"],
      read: (after) => within(bases, (base, inner) => documentsOf(base._id, inner), after),
    },
    {
      kind: "document_text",
      read: (after) =>
        within(
          bases,
          (base, inner) =>
            within(
              (from) => documentsOf(base._id, from, "at"),
              (document, place) => textOf(context, document, place),
              inner,
            ),
          after,
        ),
    },
    { kind: "run", without: ["delegation", "request", "queue", "fence"], read: (after) => runsFrom(after) },
    {
      kind: "run_step",
      read: (after) =>
        within(
          (from) => runsFrom(from, "at"),
          ({ _id }, place) => along(steps, { by: { run: _id }, index: "run", order: "_id", direction: 1 }, place),
          after,
        ),
    },
  ];
}

/** The latest text of a document in pieces, in their order; the file that it is taken out of where it is not yet. */
async function* textOf({ knowledge }: Context, { _id, source }: DocumentRecord, after: string): AsyncIterable<Placed> {
  const found = await knowledge.sources.findOne({ _id: source });
  if (found === null) return;
  const { version, text, file } = found;
  const whole = text === "" && file !== undefined ? Buffer.from(file).toString("base64") : text;
  for (let n = after === "" ? 0 : Number(after) + 1; n * PIECE < whole.length; n++) {
    const piece = whole.slice(n * PIECE, (n + 1) * PIECE);
    yield { place: String(n), record: { document: _id, version, piece: n, [text === "" ? "file" : "text"]: piece } };
  }
}
