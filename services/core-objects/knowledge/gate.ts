import type { Caller } from "../../shared/rpc/call.js";
import { aborted, notFound, permissionDenied } from "../../shared/rpc/errors.js";
import { quoted } from "../../shared/rpc/quoted.js";
import type { Context } from "../context.js";
import type { KnowledgeBaseRecord } from "../kinds/knowledge-bases/record.js";
import { readable } from "../objects/gate.js";
import { filterOf, may } from "../policy.js";
import type { DocumentRecord } from "./records.js";

// Documents have no sharing of their own: who can see a knowledge base can read
// and search them, and who can manage it can write them.

/** A document, and the knowledge base it is in. */
export interface Placed {
  readonly document: DocumentRecord;
  readonly base: KnowledgeBaseRecord;
}

/** Whether anybody sees a document: from when all of it came until somebody deletes it. */
export function isThere({ state }: Pick<DocumentRecord, "state">): boolean {
  return state !== "leaving" && state !== "uploading";
}

/** @throws ConnectError not_found, also for one that the caller cannot see. */
export async function readableBase(context: Context, id: string, caller: Caller): Promise<KnowledgeBaseRecord> {
  return (await readable(context, "knowledge base", id, caller)) as KnowledgeBaseRecord;
}

/** @throws ConnectError permission_denied for a knowledge base that the caller cannot manage. */
export function checkManaged(base: KnowledgeBaseRecord, caller: Caller): void {
  if (may(caller, "share", base)) return;
  throw permissionDenied(
    base.origin === "company"
      ? "only administrators can change company-managed knowledge bases"
      : "to change documents of this knowledge base you need its manage tier: ask its owner for it",
  );
}

/** @throws ConnectError not_found, also for a document of a knowledge base that the caller cannot see. */
export async function readableDocument(context: Context, id: string, caller: Caller): Promise<Placed> {
  const document = await context.knowledge.documents.findOne({ _id: id });
  if (document !== null && isThere(document)) {
    const base = await context
      .collection<KnowledgeBaseRecord>("knowledge base")
      .findOne({ _id: document.knowledge_base, ...filterOf(caller, "read") });
    if (base !== null) return { document, base };
  }
  throw notFound(`no document that you can see has the id ${quoted(id)}; list_documents returns the ids`);
}

/**
 * A document that the caller may write.
 *
 * @param etag what the caller has seen; "" for whatever there is.
 * @throws ConnectError not_found, permission_denied, or aborted for another etag.
 */
export async function writableDocument(context: Context, id: string, etag: string, caller: Caller): Promise<Placed> {
  const placed = await readableDocument(context, id, caller);
  checkManaged(placed.base, caller);
  const { document } = placed;
  if (etag !== "" && document.etag !== etag)
    throw aborted(
      `this document changed after you read it: its etag is now ${document.etag}. Read it again, then repeat the call`,
    );
  return placed;
}
