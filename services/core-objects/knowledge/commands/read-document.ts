import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ReadDocumentRequestSchema, ReadDocumentResponseSchema } from "#proto/core/v1/document_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import { aborted, failedPrecondition } from "../../../shared/rpc/errors.js";
import { textPage, textPageOf } from "../../../shared/rpc/text-page.js";
import type { Context } from "../../context.js";
import { documentView } from "../document-view.js";
import { readableDocument } from "../gate.js";
import { textBytes, textBytesIn } from "../pieces.js";

/** Reads a page of the latest text of a document. */
export async function readDocument(
  context: Context,
  { documentId, page, pageBytes }: MessageShape<typeof ReadDocumentRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof ReadDocumentResponseSchema>> {
  const { document, base } = await readableDocument(context, documentId, caller);
  const { knowledge } = context;
  const source = await knowledge.sources.findOne({ _id: document.source });
  if (source === null) throw aborted("the document was revised during the call: repeat the call");
  if (source.file !== undefined || source.filed !== undefined || source.url !== undefined)
    throw failedPrecondition(
      document.state === "failed"
        ? `this document has no text: ${document.problem}`
        : "the service is still reading the text of this document from its file: repeat the call in a few seconds",
    );
  return {
    document: documentView(document),
    knowledgeBase: { id: base._id, name: base.name },
    version: document.version,
    ...(source.parted === undefined
      ? textPage(source.text, page, pageBytes)
      : await textPageOf(textBytesIn(source), (from, to) => textBytes(knowledge, source, from, to), page, pageBytes)),
  };
}
