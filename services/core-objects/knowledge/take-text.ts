import type { Context } from "../context.js";
import { DocumentError } from "./document-error.js";
import { readFile } from "./extract.js";
import { growDocument } from "./grow-document.js";
import { fileOf, writePiece } from "./pieces.js";
import type { DocumentRecord, SourceRecord } from "./records.js";

/**
 * Takes the text of a document out of the file that it came in, if that is not done. The file goes after the text is
 * there: where a process ends in between, the text is taken again.
 *
 * @returns undefined if another generation or process took over.
 */
export async function takeText(context: Context, document: DocumentRecord): Promise<SourceRecord | undefined> {
  const { sources, pieces, documents } = context.knowledge;
  const source = await sources.findOne({ _id: document.source });
  if (source === null) throw new DocumentError("its text is missing: revise it with the text again");
  const { file, filed, url } = source;
  if (file === undefined && filed === undefined && url === undefined) return source;
  const { _id, owner, type, claim, generation } = document;
  const counted = filed ?? file?.length ?? 0;
  const read =
    url === undefined ? { type, pieces: fileOf(context.knowledge, source) } : { url, policy: context.outgoing };
  const taken = await readFile(context.isolation, { id: _id, owner }, read, async (text) => {
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
  if (taken === undefined) return undefined;
  await sources.updateOne({ _id: source._id }, { $set: taken, $unset: { file: "", filed: "", url: "" } });
  await pieces.deleteMany({ document: _id, of: "file", source: source._id });
  return { _id: source._id, document: _id, version: source.version, ...taken };
}
