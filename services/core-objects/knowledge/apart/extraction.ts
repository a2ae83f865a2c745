import mammoth from "mammoth";
import { extractText, getDocumentProxy } from "unpdf";
import { serveThread } from "../../../shared/process/thread.js";
import { pageOf } from "./charset.js";
import { markdownOf } from "./html.js";

const methods = {
  /** The text of a page as Markdown: headings, paragraphs, lists. */
  html: (file: Uint8Array): string => markdownOf(pageOf(file)),

  async docx(file: Uint8Array): Promise<string> {
    const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(file) });
    return markdownOf(value);
  },

  /** Page by page, each under a heading that says which it is. */
  async pdf(file: Uint8Array): Promise<string> {
    const pdf = await getDocumentProxy(file, { isEvalSupported: false, verbosity: 0 });
    const { text } = await extractText(pdf, { mergePages: false });
    return text.flatMap((page, i) => (page.trim() === "" ? [] : [`## Page ${i + 1}\n\n${page}`])).join("\n\n");
  },
};

/** What the thread answers to. */
export type ExtractionMethods = typeof methods;

serveThread(methods);
