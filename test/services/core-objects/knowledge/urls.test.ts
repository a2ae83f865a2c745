import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { DocumentService, DocumentState, DocumentType } from "#proto/core/v1/document_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { refusal } from "../refusal.js";
import { as, type Rig, startRig } from "../rig.js";
import { pdfOf } from "./files.js";
import { plainEmbedders } from "./plain-embedder.js";

let rig: Rig;
let knowledgeBaseId: string;
let server: Server;
let base: string;
beforeAll(async () => {
  server = createServer((req, res) => {
    const answer = (status: number, type: string, body: string | Uint8Array, more: object = {}): void => {
      res.writeHead(status, { ...(type !== "" && { "content-type": type }), ...more });
      res.end(body);
    };
    switch (req.url) {
      case "/page":
        return answer(200, "text/html; charset=windows-1251", Buffer.from([0x3c, 0x70, 0x3e, 0xc0, 0xe1, 0xe2]));
      case "/file.pdf":
        return answer(200, "application/octet-stream", pdfOf("Rotate the keys"));
      case "/notes":
        return answer(200, "text/plain", "Just a few words.\r\n\r\nAnd more.");
      case "/moved":
        return answer(302, "", "", { location: "/notes" });
      case "/round":
        return answer(302, "", "", { location: "/round" });
      case "/closed":
        return answer(302, "", "", { location: "http://169.254.169.254/latest" });
      case "/picture":
        return answer(200, "image/png", "png");
      default:
        return answer(404, "text/plain", "no");
    }
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  rig = await startRig({ knowledge: { embedders: plainEmbedders(), pollMs: 20 } });
  const { createKnowledgeBase } = KnowledgeBaseService.method;
  knowledgeBaseId = (await rig.dispatch.unary(createKnowledgeBase, { name: "kb" }, as("alice"))).knowledgeBase!.id;
});
afterAll(async () => {
  await rig.close();
  server.close();
});

const { createDocument, readDocument, listDocuments } = DocumentService.method;
const add = async (url: string, more: object = {}) =>
  (await rig.dispatch.unary(createDocument, { knowledgeBaseId, name: url, url, ...more }, as("alice"))).document!;
async function settled(id: string) {
  return vi.waitFor(
    async () => {
      const { documents } = await rig.dispatch.unary(listDocuments, { knowledgeBaseId, pageSize: 100 }, as("alice"));
      const found = documents.find((one) => one.id === id)!;
      expect([DocumentState.WAITING, DocumentState.WORDS]).not.toContain(found.state);
      return found;
    },
    { timeout: 30_000, interval: 100 },
  );
}

test.each([
  ["/page", DocumentType.HTML, "Абв", 6],
  ["/file.pdf", DocumentType.PDF, "Rotate the keys", undefined],
  ["/notes", DocumentType.TEXT, "Just a few words.\n\nAnd more.", 30],
  ["/moved", DocumentType.TEXT, "Just a few words.", 30],
])("%s is fetched, and is what its server says", async (path, type, text, bytes) => {
  const { id } = await add(`${base}${path}`);
  expect(await settled(id)).toMatchObject({ type, state: DocumentState.READY });
  const read = await rig.dispatch.unary(readDocument, { documentId: id }, as("alice"));
  expect(read.text).toContain(text);
  // What was decoded here is as long as it is here.
  if (bytes !== undefined && type === DocumentType.TEXT) expect(read.document!.bytes).toBe(bytes);
  expect(await rig.store.collection("knowledge_sources").findOne({ document: id } as never)).not.toHaveProperty("url");
});

test.each([
  ["/nothing", "its server answers with status 404"],
  ["/round", "redirected more than 5 times"],
  ["/closed", "leads to a closed address"],
  ["/picture", "it is image/png"],
])("%s fails, and says why", async (path, why) => {
  const { id } = await add(`${base}${path}`);
  expect(await settled(id)).toMatchObject({ state: DocumentState.FAILED, problem: expect.stringContaining(why) });
});

test("a url stands alone, and is one", async () => {
  expect((await refusal(add("ftp://example.com")))[1]).toContain("url must be a URL");
  expect((await refusal(add(`${base}/notes`, { content: "text" })))[1]).toBe("give one of content, file and url");
});
