import type { Context } from "../context.js";
import { DocumentError } from "./document-error.js";
import { readFile } from "./extract.js";
import { growDocument } from "./grow-document.js";
import { fileOf, writePiece } from "./pieces.js";
import type { DocumentRecord, SourceRecord } from "./records.js";
import { PART } from "./text-parts.js";

/**
 * Takes the text of a document out of the file that it came in, if that is not done. The file goes after the text is
 * there: where a process ends in between, the text is taken again.
 *
 * @returns undefined if another generation or process took over.
 */
export async function takeText(context: Context, document: DocumentRecord): Promise<SourceRecord | undefined> {
  const { sources, documents } = context.knowledge;
  const source = await sources.findOne({ _id: document.source });
  if (source === null) throw new DocumentError("its text is missing: revise it with the text again");
  const { file, filed, url } = source;
  if (file === undefined && filed === undefined && url === undefined) return source;
  const { _id, owner, type, claim, generation } = document;
  const counted = filed ?? file?.length ?? 0;
  if (url === undefined && PLAIN.includes(type) && counted <= PART) {
    const text = await plainText(context, source);
    if (!(await growDocument(context, document, Math.max(0, Buffer.byteLength(text) - counted)))) return undefined;
    return taken(context, source, { text });
  }
  const read =
    url === undefined ? { type, pieces: fileOf(context.knowledge, source) } : { url, policy: context.outgoing };
  const found = await readFile(context.isolation, { id: _id, owner }, read, async (text) => {
    if (!(await growDocument(context, document, Math.max(0, text.bytes - counted)))) return undefined;
    if (url !== undefined) {
      // What it is was not known before it came.
      const known = { type: text.type, bytes: text.fileBytes };
      if ((await documents.updateOne({ _id, claim, generation }, { $set: known })).matchedCount === 0) return undefined;
    }
    if (text.parts <= 1) return { text: text.parts === 0 ? "" : await text.part(0) };
    const parted = [0];
    for (let n = 0; n < text.parts; n++) {
      const data = Buffer.from(await text.part(n));
      const start = parted[n] as number;
      await writePiece(context.knowledge, { document: _id, source: source._id, of: "text" }, n, { start, data });
      parted.push(start + data.length);
    }
    return { text: "", parted };
  });
  return found === undefined ? undefined : taken(context, source, found);
}

/** Types that are text already, in some charset. */
const PLAIN: readonly string[] = ["text", "markdown"];

async function plainText({ knowledge }: Context, source: SourceRecord): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of fileOf(knowledge, source)) pieces.push(piece);
  return knowledge.cutter.plain(Buffer.concat(pieces));
}

/** Keeps the text in place of what it was taken from. */
async function taken(
  { knowledge: { sources, pieces } }: Context,
  { _id, document, version }: SourceRecord,
  text: Pick<SourceRecord, "text" | "parted">,
): Promise<SourceRecord> {
  await sources.updateOne({ _id }, { $set: text, $unset: { file: "", filed: "", url: "" } });
  await pieces.deleteMany({ document, of: "file", source: _id });
  return { _id, document, version, ...text };
}
