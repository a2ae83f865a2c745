import type { Base, CollectionSpec } from "../../shared/store/store.js";

// A document says which of its generations is searched: `serving` is the one
// switch. Blocks of passages of another generation are nobody's until then, and
// are deleted after it. A new version is switched to when all of its passages are
// there; a second write says that their vectors are.

/** How a document is written. */
export type DocumentType = "text" | "markdown" | "html" | "pdf" | "docx";

/** A document of a knowledge base, without its text and passages. */
export interface DocumentRecord extends Base {
  readonly knowledge_base: string;
  /** Of the knowledge base: whose room it takes; COMPANY's if it is company-managed. */
  readonly owner: string;
  readonly name: string;
  readonly type: DocumentType;
  /** The latest text, from 1. */
  readonly version: number;
  /** Of the latest text: the id of its source. */
  readonly source: string;
  /** Of its source. */
  readonly bytes: number;
  /** The bytes that are counted for it: of its texts, passages and vectors. Absent in old records that nobody counted yet. */
  readonly held?: number;
  /** The generation whose passages and vectors are among them; absent until there is one. */
  readonly reserved?: number;
  /** The latest way to be searched: another one with each version, and with each other embedder. */
  readonly generation: number;
  /** What is searched; null where nothing is yet. */
  readonly serving: ServingRecord | null;
  /**
   * Of the latest generation; `words` if its version is searched, but not with all of its vectors; `uploading` until
   * its file is there as a whole, `leaving` while somebody deletes it.
   */
  readonly state: "waiting" | "words" | "ready" | "failed" | "leaving" | "uploading";
  /** Why the latest generation failed, or is tried again. */
  readonly problem: string;
  /**
   * When somebody may take up the work on it; null where there is none. Shorter documents have an earlier one
   * (head-start.ts); an upload has the time when it is given up.
   */
  readonly due: Date | null;
  /** Who took it up last. */
  readonly claim: string;
  readonly attempts: number;
  /** How far the latest generation is cut into passages; absent until it is begun, and in old records. */
  readonly cut?: CutRecord;
  /** Passages of the latest generation: all, 0 until they are known, and those that are embedded. */
  readonly total: number;
  readonly done: number;
  readonly etag: string;
  /** The author and their request_id, else the document's own id: makes an addition idempotent. */
  readonly request: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A document that there is work on: only its latest claim writes it. */
export const IN_WORK: { readonly $in: readonly DocumentRecord["state"][] } = { $in: ["waiting", "words"] };

/** How far the text of a document is cut. */
export interface CutRecord {
  readonly generation: number;
  /** Parts of the text, passages that came of them, and the bytes that those take. */
  readonly parts: number;
  readonly passages: number;
  readonly bytes: number;
  /** Under which headings, on which page and after how many bytes the next part begins. */
  readonly at: TextPlace;
}

/** A place in a text. */
export interface TextPlace {
  /** By level, "" where a level has none. */
  readonly headings: readonly string[];
  /** 0 for a text without pages. */
  readonly page: number;
  readonly bytes: number;
}

/** The start of a text. */
export const TEXT_START: TextPlace = { headings: [], page: 0, bytes: 0 };

/** What is searched of a document. */
export interface ServingRecord {
  readonly generation: number;
  readonly version: number;
  readonly passages: number;
  /** What its passages were embedded by; "" as long as they are found by their words alone. */
  readonly embedder: string;
  /** Of its text, passages and vectors; absent in old records. */
  readonly bytes?: number;
}

/** The text of one version of a document. */
export interface SourceRecord extends Base {
  readonly document: string;
  readonly version: number;
  /** "" where it is not taken out of the file yet, or stands in parts. */
  readonly text: string;
  /** The file that it comes in, until the text is taken out of it: here, or in so many bytes of pieces. */
  readonly file?: Uint8Array;
  readonly filed?: number;
  /** Where it is, until it is fetched. */
  readonly url?: string;
  /** Where each part of a text begins that stands in parts, and where the last one ends, in bytes. */
  readonly parted?: readonly number[];
}

/** A piece of a file, or a part of a long text: no record holds more than a database takes. */
export interface PieceRecord extends Base {
  readonly document: string;
  readonly source: string;
  readonly of: "file" | "text";
  /** Which piece, from 0. */
  readonly n: number;
  /** Where it begins, in bytes. */
  readonly start: number;
  readonly data: Uint8Array;
}

/** Passages of one generation of a document, with their vectors. */
export interface BlockRecord extends Base {
  readonly document: string;
  readonly generation: number;
  /** Which block, from 0. */
  readonly n: number;
  readonly passages: readonly PassageRecord[];
  /** Unit vectors one after another, 32-bit floats of little endian; empty until they are made, and `dimensions` 0. */
  readonly vectors: Uint8Array;
  readonly dimensions: number;
  /** What the passages are found by, packed; absent in old records, whose terms are made when they are read. */
  readonly terms?: Uint8Array;
}

/** The vector of one passage, where the database itself searches vectors: under its document, generation and position. */
export interface VectorRecord extends Base {
  /** The knowledge base and the embedder. */
  readonly space: string;
  readonly document: string;
  readonly generation: number;
  /** Binary data of the subtype for vectors, of 32-bit floats. */
  readonly vector: unknown;
}

/** A passage of a document. */
export interface PassageRecord {
  readonly text: string;
  /** Those it stands under, the outermost first. */
  readonly headings: readonly string[];
  /** The page it begins on, from 1; absent for a text without pages. */
  readonly page?: number;
  /** Where it stands in the text, in bytes. */
  readonly start: number;
  readonly end: number;
}

/** Documents, without their texts. */
export const DOCUMENTS: CollectionSpec = {
  name: "knowledge_documents",
  indexes: [
    { name: "base", key: { knowledge_base: 1, _id: -1 } },
    { name: "state", key: { knowledge_base: 1, state: 1, _id: -1 } },
    { name: "request", key: { knowledge_base: 1, request: 1 }, unique: true },
    { name: "due", key: { due: 1, owner: 1, bytes: 1 } },
    { name: "owner", key: { owner: 1 } },
  ],
};

/** Their texts. */
export const SOURCES: CollectionSpec = {
  name: "knowledge_sources",
  indexes: [{ name: "document", key: { document: 1, version: 1 } }],
};

/** Files that come in pieces, and long texts. */
export const PIECES: CollectionSpec = {
  name: "knowledge_pieces",
  indexes: [{ name: "document", key: { document: 1, of: 1, source: 1, n: 1 } }],
};

/** Bytes of a piece of a file, but of the last. */
export const PIECE = 2 ** 20;

/** Their passages. */
export const BLOCKS: CollectionSpec = {
  name: "knowledge_blocks",
  indexes: [{ name: "document", key: { document: 1, generation: 1, n: 1 } }],
};

/** Vectors of large knowledge bases once more, for a database that searches them. */
export const VECTORS: CollectionSpec = {
  name: "knowledge_vectors",
  indexes: [{ name: "document", key: { document: 1, generation: 1 } }],
};

/** Passages of a block: what is done again where a process ended in the middle, and what progress is told in. */
export const BLOCK = 16;

/** The id of a block, so that work that is done twice is there once. */
export function blockIdOf(document: string, generation: number, n: number): string {
  return `${document}.${generation}.${n}`;
}
