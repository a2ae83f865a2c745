import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ReadDocumentRequestSchema, ReadDocumentResponseSchema } from "#proto/core/v1/document_service_pb.js";
import { SearchKnowledgeResponseSchema } from "#proto/core/v1/knowledge_base_service_pb.js";
import { serveTool } from "../../../facade/catalogue/served-tool.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools, type Tool } from "../../../services/shared/tools/tools.js";

const HIDDEN = "Read this.\u202E\u{e0069}\u{e0067}";
const SHOWN = "Read this.‹U+202E›‹U+E0069›‹U+E0067›";

const named = (name: string) =>
  serveTool(readTools(readImage()).find((tool) => tool.server === "core" && tool.name === name) as Tool);

test("characters that hide in documents are written out to models, and places stay those of the original", () => {
  const passages = [{ text: HIDDEN, startByte: 10, endByte: 10 + Buffer.byteLength(HIDDEN) }];
  const found = named("search_knowledge").encode(create(SearchKnowledgeResponseSchema, { passages }));
  const { structuredContent } = JSON.parse(`{${found}}`) as { structuredContent: { passages: object[] } };
  expect(structuredContent.passages[0]).toMatchObject({ text: SHOWN, start_byte: 10, end_byte: 31 });

  const read = named("read_document").encode(create(ReadDocumentResponseSchema, { text: HIDDEN }));
  expect(JSON.parse(`{${read}}`)).toMatchObject({ structuredContent: { text: SHOWN } });
  expect(named("read_document").decode({ document_id: SHOWN })).toMatchObject(
    create(ReadDocumentRequestSchema, { documentId: HIDDEN }),
  );
});
