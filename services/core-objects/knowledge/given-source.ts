import { calledUrlProblem } from "../../shared/outgoing/named-url.js";
import { invalidArgument } from "../../shared/rpc/errors.js";
import type { DocumentType, SourceRecord } from "./records.js";

/** What a request gives of a document: its text, or a file. */
export interface GivenSource {
  readonly content?: string | undefined;
  readonly file: Uint8Array;
  /** Where it is. */
  readonly url?: string;
}

/** How the first bytes of a file say what it is. */
const SIGNATURES: Readonly<Partial<Record<DocumentType, string>>> = { pdf: "%PDF-", docx: "PK\u0003\u0004" };

/**
 * What is kept of a text or file, and its bytes; undefined where neither is given.
 *
 * @throws ConnectError invalid_argument where both are, or not as the type is.
 */
export function sourceOf(
  { content = "", file, url = "" }: GivenSource,
  type: DocumentType,
): (Pick<SourceRecord, "text" | "file" | "url"> & { readonly bytes: number }) | undefined {
  const given = [content !== "", file.length > 0, url !== ""].filter((one) => one).length;
  if (given === 0) return undefined;
  if (given > 1) throw invalidArgument("give one of content, file and url");
  if (url !== "") {
    const problem = calledUrlProblem(url);
    if (problem !== undefined) throw invalidArgument(`url ${problem}`);
    return { text: "", url, bytes: 0 };
  }
  const signature = SIGNATURES[type];
  if (file.length === 0) {
    if (signature !== undefined) throw invalidArgument(`give a ${type} as file, not as content`);
    const bytes = Buffer.byteLength(content);
    return type === "html" ? { text: "", file: Buffer.from(content), bytes } : { text: content, bytes };
  }
  if (signature === undefined && type !== "html") throw invalidArgument(`give ${type} as content, not as file`);
  checkSignature(file, type);
  return { text: "", file, bytes: file.length };
}

/** @throws ConnectError invalid_argument where the first bytes of a file are not those of its type. */
export function checkSignature(file: Uint8Array, type: DocumentType): void {
  const signature = SIGNATURES[type];
  if (signature !== undefined && !Buffer.from(file.subarray(0, 1_024)).includes(signature))
    throw invalidArgument(`file is not a ${type}`);
}
