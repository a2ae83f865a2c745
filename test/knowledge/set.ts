import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { markdownOf } from "../../services/core-objects/knowledge/apart/html.js";
import { passagesOf } from "../../services/core-objects/knowledge/passages.js";

// Documents that others wrote, and questions about them. The documents are not
// here: documents.json says where they are, in which commit of a repository or
// version of a Debian package, and under which licence. fetch.sh brings them.

/** A document of somebody else. */
export interface ForeignDocument {
  /** The repository or the package that it is in. */
  readonly repository?: string;
  readonly commit?: string;
  readonly package?: string;
  readonly version?: string;
  readonly path: string;
  readonly sha256: string;
  readonly licence: string;
  readonly language: string;
}

/** A question, and the words that the passage that answers it has. */
export interface Question {
  readonly language: string;
  readonly kind: "question" | "key words" | "exact term" | "error message" | "table" | "other language";
  readonly question: string;
  /** Which of the documents. */
  readonly document: number;
  readonly answer: string;
}

/** A passage, numbered over all documents. */
export interface Passage {
  readonly document: number;
  readonly language: string;
  readonly name: string;
  readonly text: string;
  readonly headings: readonly string[];
}

function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8")) as T;
}

/** Documents, and questions about them. */
export interface QuestionSet {
  readonly documents: readonly ForeignDocument[];
  readonly questions: readonly Question[];
}

/** Sets that nothing was chosen with, by their folders. */
const HELD_OUT = ["held-out", "packages"];

/**
 * The questions that were in sight while the search was made, or those of a folder that nothing was chosen with.
 * @throws if there is no such folder.
 */
export function setOf(name?: string): QuestionSet {
  if (name !== undefined && !HELD_OUT.includes(name)) throw new Error(`name ${HELD_OUT.join(" or ")}, or nothing`);
  const folder = name === undefined ? "" : `${name}/`;
  return { documents: read(`${folder}documents.json`), questions: read(`${folder}questions.json`) };
}

/** The passages of all documents in a folder. @throws if one is missing or another than the questions are about. */
export function passagesIn(folder: string, { documents }: QuestionSet): Passage[] {
  return documents.flatMap(({ repository, package: named = "", path, sha256, language }, document) => {
    const place = join(repository ?? named, path);
    const bytes = readFileSync(join(folder, place));
    if (createHash("sha256").update(bytes).digest("hex") !== sha256)
      throw new Error(`${place} is another document than documents.json says: fetch it again`);
    const text = bytes.toString("utf8");
    const type = /\.html?$/.test(path) ? "html" : path.endsWith(".md") ? "markdown" : "text";
    const name = path.split("/").at(-1) as string;
    return passagesOf(type === "html" ? markdownOf(text) : text, type).map((one) => ({
      ...{ document, language, name, text: one.text, headings: one.headings },
    }));
  });
}

const squeezed = (text: string): string => text.replace(/\s+/g, " ");

/** The passages that answer a question, by number. @throws if there are none. */
export function answersOf({ document, answer, question }: Question, passages: readonly Passage[]): Set<number> {
  const right = passages.flatMap((one, number) =>
    one.document === document && squeezed(one.text).includes(answer) ? [number] : [],
  );
  if (right.length === 0) throw new Error(`no passage answers: ${question}`);
  return new Set(right);
}
