import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@connectrpc/connect";
import { type Document, type DocumentService, DocumentState } from "#proto/core/v1/document_service_pb.js";
import { patiently } from "./patiently.js";

const LOOK_MS = 1_000;
const LONGEST_LOOK_MS = 5_000;

/** What became of documents. */
export interface Read {
  /** Problems of those that failed, by id. */
  readonly failed: ReadonlyMap<string, string>;
  /** How many are found by their words alone, while their vectors are being made. */
  readonly byWords: number;
}

/**
 * Waits until documents are searchable, by their words at least, or cannot become so.
 *
 * @param read hears how many are not waiting any more.
 */
export async function documentsRead(
  client: Client<typeof DocumentService>,
  knowledgeBaseId: string,
  ids: ReadonlySet<string>,
  read: (count: number) => void,
): Promise<Read> {
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
    read(ids.size - waiting.length);
    if (waiting.length === 0) break;
    await sleep(wait);
  }
  const failed = await among(DocumentState.FAILED);
  return {
    failed: new Map(failed.map(({ id, problem = "" }) => [id, problem])),
    byWords: (await among(DocumentState.WORDS)).length,
  };
}
