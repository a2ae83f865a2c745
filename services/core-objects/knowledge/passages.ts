import { type DocumentType, type PassageRecord, TEXT_START, type TextPlace } from "./records.js";

/** Characters of a passage, at most: what one vector can mean, about 150 words. */
export const MAX_PASSAGE = 1_000;
/** A passage that is shorter takes the next paragraph in, where that fits. */
const ENOUGH = 600;
/** Bytes of a text for each of its passages, at least, and passages that a text may have whatever its size. */
const BYTES_A_PASSAGE = 256;
const FEW = 64;
/** Where there are more, a passage that is shorter takes the next one in, even over a heading. */
const ENOUGH_OF_MANY = 400;
/** Headings above a passage that are kept, and characters of each. */
const MAX_HEADINGS = 6;
const MAX_HEADING = 120;

/** A piece of the text that is not divided: a paragraph, a block of code, a part of a long one. */
interface Piece {
  readonly from: number;
  readonly to: number;
  readonly headings: readonly string[];
  readonly page: number;
}

/** Passages of a part of a text, and the place where the next part begins. */
export interface Passages {
  readonly passages: PassageRecord[];
  readonly after: TextPlace;
}

/** The line that says which page of a PDF follows. */
export const pageMark = (page: number): string => `## Page ${page}`;
const PAGE_MARK = /^## Page (\d{1,6})$/;

/** Cuts a text, or the part of one that begins at a place, into passages. */
export function passagesOf(text: string, type: DocumentType, at: TextPlace = TEXT_START): PassageRecord[] {
  return passagesFrom(text, type, at).passages;
}

/**
 * Cuts a text into passages: along its headings first, then its paragraphs,
 * and a paragraph that is too long along its sentences. No passage reaches over
 * a heading or from one page to the next, unless the text has so many tiny passages that they are put together.
 */
export function passagesFrom(text: string, type: DocumentType, at: TextPlace): Passages {
  const { pieces: paragraphs, ...after } = paragraphsOf(text, type, at);
  const pieces = paragraphs.flatMap((piece) => [...within(text, piece)]);
  const packed: Piece[] = [];
  for (const piece of pieces) {
    const last = packed.at(-1);
    const fits =
      last !== undefined &&
      last.headings === piece.headings &&
      last.to - last.from < ENOUGH &&
      piece.to - last.from <= MAX_PASSAGE;
    if (fits) packed[packed.length - 1] = { ...last, to: piece.to };
    else packed.push(piece);
  }
  const isMany = packed.length > FEW + text.length / BYTES_A_PASSAGE;
  const passages = placed(text, isMany ? merged(packed) : packed, at.bytes);
  return { passages, after: { ...after, bytes: at.bytes + Buffer.byteLength(text) } };
}

/** Fewer pieces: a vector costs more than the few words that a tiny one has to say. */
function merged(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = [];
  for (const piece of pieces) {
    const last = all.at(-1);
    const fits = last !== undefined && last.to - last.from < ENOUGH_OF_MANY && piece.to - last.from <= MAX_PASSAGE;
    if (fits) all[all.length - 1] = { ...last, to: piece.to, headings: shared(last.headings, piece.headings) };
    else all.push(piece);
  }
  return all;
}

/** The headings that two pieces both stand under. */
function shared(one: readonly string[], other: readonly string[]): readonly string[] {
  if (one === other) return one;
  const differs = one.findIndex((heading, i) => heading !== other[i]);
  return differs < 0 ? one : one.slice(0, differs);
}

/** Paragraphs with the headings above them (CommonMark 0.31: ATX and setext headings, fenced code), and those at the end. */
function paragraphsOf(
  text: string,
  type: DocumentType,
  start: TextPlace,
): { readonly pieces: Piece[] } & Pick<TextPlace, "headings" | "page"> {
  const pieces: Piece[] = [];
  const isMarkdown = type !== "text";
  const stack = [...start.headings];
  let { page } = start;
  let headings = shownOf(stack);
  let from = -1;
  let fence = "";
  let at = 0;
  let end = 0;
  const flush = (): void => {
    if (from >= 0) pieces.push({ from, to: end, headings, page });
    from = -1;
  };
  const head = (level: number, title: string): void => {
    stack.length = Math.min(stack.length, level - 1);
    while (stack.length < level - 1) stack.push("");
    stack.push(title.slice(0, MAX_HEADING));
    headings = shownOf(stack);
  };
  for (const line of text.split("\n")) {
    const next = at + line.length + 1;
    const trimmed = line.trim();
    const mark = isMarkdown ? (/^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "") : "";
    const atx = isMarkdown && fence === "" ? /^ {0,3}(#{1,6})(?:[ \t]|$)/.exec(line) : null;
    const setext = isMarkdown && fence === "" && from >= 0 ? /^ {0,3}(=+|-{2,})[ \t]*$/.exec(line) : null;
    const isUnder = setext !== null && !text.slice(from, end).includes("\n");
    const turned = type === "pdf" ? PAGE_MARK.exec(line)?.[1] : undefined;
    if (turned !== undefined) {
      flush();
      fence = "";
      page = Number(turned);
      // Another list, so that no passage goes on over the end of a page.
      headings = shownOf(stack);
    } else if (fence !== "") {
      end = at + line.length;
      if (mark.startsWith(fence) && trimmed === mark) {
        fence = "";
        flush();
      }
    } else if (mark !== "") {
      flush();
      [fence, from, end] = [mark, at, at + line.length];
    } else if (atx !== null) {
      flush();
      head(atx[1]!.length, titleOf(line.slice(atx[0].length)));
    } else if (isUnder) {
      const title = text.slice(from, end).trim();
      from = -1;
      head(setext[1]!.startsWith("=") ? 1 : 2, title);
    } else if (trimmed === "") {
      flush();
    } else {
      if (from < 0) from = at;
      end = at + line.length;
    }
    at = next;
  }
  flush();
  return { pieces, headings: stack, page };
}

function shownOf(stack: readonly string[]): readonly string[] {
  return stack.filter((one) => one !== "").slice(0, MAX_HEADINGS);
}

/** What an ATX heading says: without the hashes that close it, which stand after a blank (no expression: lines are as long as a document). */
function titleOf(rest: string): string {
  const title = rest.trim();
  let end = title.length;
  while (title[end - 1] === "#") end--;
  if (end === 0) return "";
  return /[ \t]/.test(title[end - 1] as string) ? title.slice(0, end).trimEnd() : title;
}

/** A paragraph in parts of at most {@link MAX_PASSAGE} characters, cut after a sentence, a line or a word. */
function* within(text: string, { from, to, ...under }: Piece): Iterable<Piece> {
  let start = from;
  while (to - start > MAX_PASSAGE) {
    const part = text.slice(start, start + MAX_PASSAGE);
    const end = start + cutIn(part);
    yield { from: start, to: end, ...under };
    start = end;
  }
  if (text.slice(start, to).trim() !== "") yield { from: start, to, ...under };
}

function cutIn(part: string): number {
  const half = part.length / 2;
  for (const boundary of [/[.!?]["')\]]?\s+(?=\S)/g, /\n/g, /\s+/g]) {
    const last = [...part.matchAll(boundary)].at(-1);
    if (last !== undefined && last.index + last[0].length > half) return last.index + last[0].length;
  }
  // Not between the halves of a character.
  return /[\ud800-\udbff]$/.test(part) ? part.length - 1 : part.length;
}

/** The pieces as passages, with their places in bytes. */
function placed(text: string, pieces: readonly Piece[], before: number): PassageRecord[] {
  let [at, bytes] = [0, before];
  const bytesAt = (position: number): number => {
    bytes += Buffer.byteLength(text.slice(at, position));
    at = position;
    return bytes;
  };
  return pieces.flatMap(({ from, to, headings, page }) => {
    const whole = text.slice(from, to);
    const passage = whole.trim();
    if (passage === "") return [];
    const start = from + whole.indexOf(passage);
    const place = { start: bytesAt(start), end: bytesAt(start + passage.length) };
    return [{ text: passage, headings, ...(page > 0 && { page }), ...place }];
  });
}
