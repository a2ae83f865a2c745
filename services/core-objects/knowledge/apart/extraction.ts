import mammoth from "mammoth";
import type { OutgoingPolicy } from "../../../shared/outgoing/policy.js";
import { serveThread } from "../../../shared/process/thread.js";
import type { DocumentType } from "../records.js";
import { partsOf } from "../text-parts.js";
import { pageOf, plainTextOf } from "./charset.js";
import { markdownOf } from "./html.js";
import { textOfPdf } from "./pdf.js";

// One file: it comes in pieces, is read, and its text goes in parts, so that no
// message is longer than others can wait for.

/** What is asked of the file that came. */
export interface ReadQuestion {
  readonly type: DocumentType;
  /** Characters of text that may come of it. */
  readonly characters: number;
}

/** Where the file is, and which addresses may be called. */
export interface FetchQuestion {
  readonly url: string;
  readonly policy: OutgoingPolicy;
}

/** What came from there. */
export interface FetchAnswer {
  readonly type: DocumentType;
  readonly bytes: number;
}

/** What came of it. */
export interface ReadAnswer {
  readonly parts: number;
  /** Of the whole text, in UTF-8. */
  readonly bytes: number;
}

/** What was asked before is not here: the process is another one. */
class LostError extends Error {
  override name = LOST;
}
/** The name by which it is known outside. */
const LOST = "LostError";

/** Word's title is a heading too, which mammoth does not take it for. */
const STYLES = { styleMap: ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => h2:fresh"] };

const readers: Readonly<Record<DocumentType, (file: Uint8Array) => string | Promise<string>>> = {
  text: plainTextOf,
  markdown: plainTextOf,
  html: (file) => markdownOf(pageOf(file)),
  docx: async (file) => markdownOf((await mammoth.convertToHtml({ buffer: Buffer.from(file) }, STYLES)).value),
  pdf: textOfPdf,
};

let pieces: Uint8Array[] = [];
let parts: readonly string[] | undefined;

const methods = {
  /** Takes a piece of the file. @returns how many bytes there are. */
  add(piece: Uint8Array): string {
    pieces.push(piece);
    return String(pieces.reduce((sum, one) => sum + one.length, 0));
  },

  /** Takes the file from an address. @param asked FetchQuestion. @returns FetchAnswer. */
  async fetch(asked: string): Promise<string> {
    const { url, policy } = JSON.parse(asked) as FetchQuestion;
    // A file that was sent needs no client of HTTP.
    const { fetched } = await import("./fetching.js");
    const file = await fetched(url, policy);
    pieces = file.pieces;
    const bytes = pieces.reduce((sum, one) => sum + one.length, 0);
    return JSON.stringify({ type: file.type, bytes } satisfies FetchAnswer);
  },

  /** Reads the file. @param asked ReadQuestion. @returns ReadAnswer. */
  async read(asked: string): Promise<string> {
    const { type, characters } = JSON.parse(asked) as ReadQuestion;
    if (pieces.length === 0) throw new LostError("no file came");
    const file = Buffer.concat(pieces);
    pieces = [];
    const text = await readers[type](file);
    if (text.length > characters) throw new Error(`it has more than ${characters} characters of text`);
    parts = partsOf(text);
    return JSON.stringify({ parts: parts.length, bytes: Buffer.byteLength(text) } satisfies ReadAnswer);
  },

  /** A part of the text, by its number. */
  part(n: string): string {
    const part = parts?.[Number(n)];
    if (part === undefined) throw new LostError("no file was read");
    return part;
  },
};

/** What the thread answers to. */
export type ExtractionMethods = typeof methods;

serveThread(methods);
