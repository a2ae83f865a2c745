import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@connectrpc/connect";
import { type Document, type DocumentService, DocumentState } from "#proto/core/v1/document_service_pb.js";
import { patiently } from "./patiently.js";

const LOOK_MS = 1_000;
const LONGEST_LOOK_MS = 5_000;

/**
 * Waits until documents are searchable, or cannot become so.
 *
 * @param read hears how many are not waiting any more, with parts of those that are.
 * @returns the problems of those that failed, by id.
 */
export async function documentsRead(
  client: Client<typeof DocumentService>,
  knowledgeBaseId: string,
  ids: ReadonlySet<string>,
  read: (count: number) => void,
): Promise<ReadonlyMap<string, string>> {
  const among = async (state: DocumentState): Promise<Document[]> => {
    const found: Document[] = [];
    let pageToken = "";
    do {
      const asked = { knowledgeBaseId, state, pageSize: 100, pageToken };
      const page = await patiently(() => client.listDocuments(asked));
      found.push(...page.documents.filter(({ id }) => ids.has(id)));
      pageToken = page.nextPageToken ?? "";
    } while (pageToken !== "");
    return found;
  };
  for (let wait = LOOK_MS; ; wait = Math.min(LONGEST_LOOK_MS, wait * 1.2)) {
    const waiting = await among(DocumentState.WAITING);
    read(ids.size - waiting.reduce((left, { percent = 0 }) => left + 1 - percent / 100, 0));
    if (waiting.length === 0) break;
    await sleep(wait);
  }
  return new Map((await among(DocumentState.FAILED)).map(({ id, problem = "" }) => [id, problem]));
}
