import type { Caller } from "../../shared/rpc/call.js";
import { notFound } from "../../shared/rpc/errors.js";
import { quoted } from "../../shared/rpc/quoted.js";
import type { Context } from "../context.js";
import { checkManaged, readableBase } from "./gate.js";
import type { DocumentRecord } from "./records.js";

/** How long an upload is kept that nobody goes on with, in milliseconds. */
const KEPT_MS = 86_400_000;

/** When an upload that somebody goes on with now is given up. */
export function uploadDue(now = Date.now()): Date {
  return new Date(now + KEPT_MS);
}

/**
 * A document whose file is on its way, or has come.
 *
 * @throws ConnectError not_found, permission_denied
 */
export async function uploadOf(context: Context, id: string, caller: Caller): Promise<DocumentRecord> {
  const document = await context.knowledge.documents.findOne({ _id: id });
  // An upload has no other claim than that of the worker which takes it away.
  if (document === null || document.state === "leaving" || (document.state === "uploading" && document.claim !== ""))
    throw noUpload(id);
  checkManaged(await readableBase(context, document.knowledge_base, caller), caller);
  return document;
}

/** There is no such upload, or it is gone. */
export function noUpload(id: string): Error {
  return notFound(`no upload that you can see has the id ${quoted(id)}: begin it again with BeginUpload`);
}
