import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { DocumentService, DocumentState, DocumentType } from "#proto/core/v1/document_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { markdownOf } from "../../../../services/core-objects/knowledge/apart/html.js";
import { readFile } from "../../../../services/core-objects/knowledge/extract.js";
import { passagesOf } from "../../../../services/core-objects/knowledge/passages.js";
import { createIsolation } from "../../../../services/shared/isolation/isolation.js";
import { createProcesses } from "../../../../services/shared/process/processes.js";
import { refusal } from "../refusal.js";
import { as, type Rig, startRig } from "../rig.js";
import { docxOf, pdfOf } from "./files.js";
import { plainEmbedders } from "./plain-embedder.js";

let rig: Rig;
let knowledgeBaseId: string;
beforeAll(async () => {
  rig = await startRig({ knowledge: { embedders: plainEmbedders(), pollMs: 20 } });
  const { createKnowledgeBase } = KnowledgeBaseService.method;
  knowledgeBaseId = (await rig.dispatch.unary(createKnowledgeBase, { name: "kb" }, as("alice"))).knowledgeBase!.id;
});
const processes = createProcesses();
const isolation = createIsolation(processes);
afterAll(async () => {
  await isolation.close();
  await processes.close();
  await rig.close();
});

const { createDocument, readDocument } = DocumentService.method;
const add = async (request: object) =>
  (await rig.dispatch.unary(createDocument, { knowledgeBaseId, name: "File", ...request }, as("alice"))).document!;
const read = (documentId: string) => rig.dispatch.unary(readDocument, { documentId }, as("alice"));

const HTML = `<html><head><title>t</title><style>p{}</style></head><body><h1>Phishing</h1><p>Block the
  sender &amp; purge.</p><script>evil()</script><ul><li>first</li><li>second</li></ul></body></html>`;
const TABLE = [
  ["Port", "Service"],
  ["8443", "Console"],
  ["4317", "Traces"],
];

test.each([
  ["HTML", { type: DocumentType.HTML, content: HTML }, ["# Phishing", "Block the sender & purge.", "- first"]],
  [
    "PDF",
    { type: DocumentType.PDF, file: pdfOf("Isolate the host", "Then rotate") },
    ["## Page 1", "Isolate the host"],
  ],
  [
    "docx",
    { type: DocumentType.DOCX, file: docxOf("Ransomware", "Pull the plug.") },
    ["# Ransomware", "Pull the plug."],
  ],
  [
    "a table of docx, row by row,",
    { type: DocumentType.DOCX, file: docxOf("Ports", "Which are open:", TABLE) },
    ["| Port | Service", "| 8443 | Console", "| 4317 | Traces"],
  ],
])("the text of %s is taken out and searched under its headings", async (_type, request, lines) => {
  const { id } = await add(request);
  await vi.waitFor(async () => expect((await read(id)).document!.state).toBe(DocumentState.READY), { timeout: 15_000 });
  const { text } = await read(id);
  for (const line of lines) expect(text.split("\n")).toContain(line);
  expect(text).not.toContain("evil");
  const kept = await rig.store.collection("knowledge_sources").findOne({ document: id } as never);
  expect(kept).not.toHaveProperty("file");
});

test("what is not as its type is refused, or says what is wrong with it", async () => {
  for (const request of [
    {},
    { type: DocumentType.PDF, content: "text" },
    { type: DocumentType.PDF, file: Buffer.from("no PDF") },
    { type: DocumentType.MARKDOWN, file: Buffer.from("# A") },
    { type: DocumentType.HTML, content: "<p>a", file: Buffer.from("<p>b") },
  ])
    expect((await refusal(add(request)))[0]).toBe("InvalidArgument");
  const { id } = await add({ type: DocumentType.PDF, file: Buffer.from("%PDF-1.4 and nothing more") });
  await vi.waitFor(
    async () => {
      const { documents } = await rig.dispatch.unary(
        DocumentService.method.listDocuments,
        { knowledgeBaseId, state: DocumentState.FAILED },
        as("alice"),
      );
      expect(documents).toMatchObject([{ id, problem: expect.stringContaining("cannot be read as pdf") }]);
    },
    { timeout: 15_000 },
  );
  expect((await refusal(read(id)))[0]).toBe("FailedPrecondition");
});

test("a file that takes too long or too much text is given up", async () => {
  const limits = { ms: 30_000, megabytes: 256, wholeMegabytes: 1_024, characters: 10 };
  const read = (file: Uint8Array, more: object) =>
    readFile(isolation, { id: "d", owner: "alice" }, { type: "html", pieces: [file] }, (text) => text.part(0), {
      ...limits,
      ...more,
    });
  await expect(read(Buffer.from(HTML), {})).rejects.toThrow("more than 10 characters");
  const deep = Buffer.from("<p>x".repeat(250_000));
  await expect(read(deep, { ms: 1 })).rejects.toThrow("takes more than 0.001 seconds");
  const grown = read(deep, { characters: 2 ** 30, wholeMegabytes: -1_000_000 });
  await expect(grown).rejects.toThrow("takes too much memory");
});

test("HTML that nobody closes ends all the same", () => {
  expect(markdownOf("<h2>A<p>b<pre>  c\n  d")).toBe("## A\n\nb\n\n```\n  c\n  d\n```");
  expect(markdownOf("<script>x")).toBe("");
});

describe("passages", () => {
  test("keep to headings, to a length, and to their places in bytes", () => {
    const text = `Über\n====\n\n${"Ein Satz über Dinge. ".repeat(120)}\n\n## B\n\n\`\`\`sh\n# no heading\n\`\`\`\nlast`;
    const passages = passagesOf(text, "markdown");
    const bytes = Buffer.from(text);
    for (const one of passages) {
      expect(bytes.subarray(one.start, one.end).toString()).toBe(one.text);
      expect(one.text.length).toBeLessThanOrEqual(1_000);
    }
    expect(new Set(passages.map(({ headings }) => headings.join(" > ")))).toEqual(new Set(["Über", "Über > B"]));
    expect(passages.at(-1)!.text).toBe("```sh\n# no heading\n```\nlast");
    expect(passagesOf("# no heading", "text")).toMatchObject([{ text: "# no heading", headings: [] }]);
  });

  test("lose no word, however long a line is", () => {
    for (const text of ["x".repeat(5_000), "word ".repeat(2_000), "🛡️".repeat(3_000), "\n\n \n"]) {
      const joined = passagesOf(text, "text").map((one) => one.text);
      expect(joined.join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
    }
  });
});
