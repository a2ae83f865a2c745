import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type DocumentSchema, DocumentState, DocumentType as TypeWord } from "#proto/core/v1/document_service_pb.js";
import type { DocumentRecord, DocumentType } from "./records.js";

const TYPES: Readonly<Record<DocumentType, TypeWord>> = {
  text: TypeWord.TEXT,
  markdown: TypeWord.MARKDOWN,
  html: TypeWord.HTML,
  pdf: TypeWord.PDF,
  docx: TypeWord.DOCX,
};
const STATES: Readonly<Record<DocumentRecord["state"], DocumentState>> = {
  waiting: DocumentState.WAITING,
  words: DocumentState.WORDS,
  ready: DocumentState.READY,
  failed: DocumentState.FAILED,
  leaving: DocumentState.WAITING,
  uploading: DocumentState.WAITING,
};

/** The type that a word of the API means; the other one where none is given. */
export function typeOf(word: TypeWord, otherwise: DocumentType): DocumentType {
  const found = (Object.keys(TYPES) as DocumentType[]).find((type) => TYPES[type] === word);
  return found ?? otherwise;
}

/** The state that a word of the API means; undefined where none is given. */
export function stateOf(word: DocumentState): DocumentRecord["state"] | undefined {
  return (["waiting", "words", "ready", "failed"] as const).find((state) => STATES[state] === word);
}

/** A document as it is shown, without its text. */
export function documentView(document: DocumentRecord): MessageInitShape<typeof DocumentSchema> {
  return {
    ...documentRow(document),
    etag: document.etag,
    createdAt: timestampFromDate(document.created_at),
  };
}

/** Why a document is not searchable, or by its words alone; of one that there is work on also when it is tried again. */
function problemOf({ problem, state, due, serving, version }: DocumentRecord): string {
  if (problem === "" || (state === "failed" && serving?.version !== version)) return problem;
  if (state === "failed") return `its vectors cannot be made: ${problem}; it is found by its words`;
  if (due === null) return problem;
  const isLater = due.getTime() > Date.now();
  return `${problem}; the next attempt is ${isLater ? `at ${due.toISOString().replace(/\.\d+Z$/, "Z")}` : "now"}`;
}

/** A document as a list shows it. */
export function documentRow(document: DocumentRecord): MessageInitShape<typeof DocumentSchema> {
  const { _id, name, type, version, bytes, state, serving, total, done } = document;
  const problem = problemOf(document);
  return {
    id: _id,
    name,
    type: TYPES[type],
    version,
    bytes,
    state: STATES[state],
    ...((state === "waiting" || state === "words") && { percent: total === 0 ? 0 : Math.floor((done / total) * 100) }),
    ...(problem !== "" && { problem }),
    ...(serving !== null && serving.version !== version && { searchableVersion: serving.version }),
    passageCount: serving?.passages ?? 0,
    updatedAt: timestampFromDate(document.updated_at),
  };
}
