import { invalidArgument } from "../../shared/rpc/errors.js";
import type { DocumentType, SourceRecord } from "./records.js";

/** What a request gives of a document: its text, or a file. */
export interface GivenSource {
  readonly content?: string | undefined;
  readonly file: Uint8Array;
}

/** How the first bytes of a file say what it is. */
const SIGNATURES: Readonly<Partial<Record<DocumentType, string>>> = { pdf: "%PDF-", docx: "PK\u0003\u0004" };

/**
 * What is kept of a text or file, and its bytes; undefined where neither is given.
 *
 * @throws ConnectError invalid_argument where both are, or not as the type is.
 */
export function sourceOf(
  { content = "", file }: GivenSource,
  type: DocumentType,
): (Pick<SourceRecord, "text" | "file"> & { readonly bytes: number }) | undefined {
  if (content === "" && file.length === 0) return undefined;
  if (content !== "" && file.length > 0) throw invalidArgument("give either content or file, not both");
  const signature = SIGNATURES[type];
  if (file.length === 0) {
    if (signature !== undefined) throw invalidArgument(`give a ${type} as file, not as content`);
    const bytes = Buffer.byteLength(content);
    return type === "html" ? { text: "", file: Buffer.from(content), bytes } : { text: content, bytes };
  }
  if (signature === undefined) {
    if (type !== "html") throw invalidArgument(`give ${type} as content, not as file`);
  } else if (!Buffer.from(file).subarray(0, 1_024).includes(signature)) throw invalidArgument(`file is not a ${type}`);
  return { text: "", file, bytes: file.length };
}
