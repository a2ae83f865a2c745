import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ListAgentsResponseSchema } from "#proto/core/v1/agent_service_pb.js";
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

test("the text of a result that nobody can change is made once; with a tenant's name, and of one that can, each time", () => {
  const tool = named("list_agents");
  const page = create(ListAgentsResponseSchema, { agents: [{ id: "1", name: "Sorter" }] });
  const other = create(ListAgentsResponseSchema, { agents: [{ id: "1", name: "Finder" }] });
  Object.freeze(page);
  const first = tool.encode(page);
  expect(first).toContain("Sorter");
  // The list inside is not frozen here: a text that shows the change would be a new one.
  page.agents[0]!.name = "Changed";
  expect(tool.encode(page)).toBe(first);
  expect(tool.encode(page, { id: "t", name: "Soc" })).toMatch(/Changed.*Soc|Soc.*Changed/);
  expect(tool.encode(Object.freeze(other))).toContain("Finder");
  const open = create(ListAgentsResponseSchema, { agents: [{ id: "1", name: "Sorter" }] });
  expect(tool.encode(open)).toContain("Sorter");
  open.agents[0]!.name = "Changed";
  expect(tool.encode(open)).toContain("Changed");
});
