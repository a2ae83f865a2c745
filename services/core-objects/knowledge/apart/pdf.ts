import { extractText, getDocumentProxy } from "unpdf";
import { pageMark } from "../passages.js";

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;
type Outline = Awaited<ReturnType<Pdf["getOutline"]>>;

/** An entry of the outline. */
interface Entry {
  readonly title: string;
  /** From 0. */
  readonly depth: number;
}

/** Entries of an outline that are looked at, and how deep. */
const MAX_ENTRIES = 5_000;
const MAX_DEPTH = 4;

/**
 * The text of a PDF, page by page, each under a line that says which it is. What its outline names is a heading: where
 * its title stands in the page, else at the top of the page if it is a chapter.
 */
export async function textOfPdf(file: Uint8Array): Promise<string> {
  const pdf = await getDocumentProxy(Uint8Array.from(file), { isEvalSupported: false, verbosity: 0 });
  const { text } = await extractText(pdf, { mergePages: false });
  const outline = await entriesOf(pdf);
  return text
    .flatMap((page, i) => {
      const entries = outline.get(i) ?? [];
      return page.trim() === "" && entries.length === 0 ? [] : [`${pageMark(i + 1)}\n\n${withHeadings(page, entries)}`];
    })
    .join("\n\n");
}

/** The entries of the outline by the page they lead to, from 0; none where it cannot be read. */
async function entriesOf(pdf: Pdf): Promise<Map<number, Entry[]>> {
  const entries = new Map<number, Entry[]>();
  let left = MAX_ENTRIES;
  async function walk(items: Outline, depth: number): Promise<void> {
    for (const { title, dest, items: below } of items ?? []) {
      if (left-- <= 0) return;
      const page = await pageOf(pdf, dest).catch(() => undefined);
      const plain = title.replace(/\s+/g, " ").trim();
      if (page !== undefined && plain !== "")
        entries.set(page, [...(entries.get(page) ?? []), { title: plain, depth }]);
      if (depth + 1 < MAX_DEPTH) await walk(below as Outline, depth + 1);
    }
  }
  await walk(await pdf.getOutline().catch(() => []), 0);
  return entries;
}

async function pageOf(pdf: Pdf, dest: string | unknown[] | null): Promise<number | undefined> {
  const [target] = (typeof dest === "string" ? await pdf.getDestination(dest) : dest) ?? [];
  if (typeof target === "number") return target;
  return target === undefined || target === null ? undefined : pdf.getPageIndex(target as never);
}

function withHeadings(page: string, entries: readonly Entry[]): string {
  const lines = page.split("\n");
  const top: string[] = [];
  let from = 0;
  for (const { title, depth } of entries) {
    const heading = `\n${"#".repeat(3 + depth)} ${title}\n`;
    const at = lines.findIndex((line, i) => i >= from && isTitle(line, title));
    if (at >= 0) {
      lines[at] = heading;
      from = at + 1;
    } else if (depth === 0) top.push(heading);
  }
  return [...top, ...lines].join("\n");
}

/** Whether a line is a title, with or without the number before it. */
function isTitle(line: string, title: string): boolean {
  const [one, other] = [plainOf(line), plainOf(title)];
  return one === other || (one !== "" && one.endsWith(` ${other}`) && /^[\d.]+$/.test(one.slice(0, -other.length - 1)));
}

const plainOf = (text: string): string => text.replace(/\s+/g, " ").trim().toLowerCase();
