import mammoth from "mammoth";
import { markdownOf } from "../../../services/core-objects/knowledge/apart/html.js";
import { textOfPdf } from "../../../services/core-objects/knowledge/apart/pdf.js";
import { DocumentError } from "../../../services/core-objects/knowledge/document-error.js";
import { readFile } from "../../../services/core-objects/knowledge/extract.js";
import { createIsolation } from "../../../services/shared/isolation/isolation.js";
import { BusyError } from "../../../services/shared/isolation/turns.js";
import { createProcesses } from "../../../services/shared/process/processes.js";
import { docxOf, pdfOf } from "../../services/core-objects/knowledge/files.js";
import { changedBytes } from "./random.js";
import { type FuzzTarget, wordsOf } from "./target.js";

/** So many files come through a process of their own as in the product, which takes a second; the others in this one. */
const APART = 2_000;
/** What a file may take of this process, as of the one that it has in the product. */
const PATIENCE_MS = 30_000;

const PARSERS: Readonly<Record<"pdf" | "docx", (file: Uint8Array) => Promise<unknown>>> = {
  pdf: textOfPdf,
  docx: async (file) => markdownOf((await mammoth.convertToHtml({ buffer: Buffer.from(file) })).value),
};

/**
 * Files whose bytes are changed. What a parser does with one, it does in a process of its own: a refusal, whatever it
 * says, is no fault; a text that is none, or a parser that never comes back, is.
 */
export async function fuzzDocuments(type: "pdf" | "docx"): Promise<FuzzTarget> {
  const processes = createProcesses();
  const isolation = createIsolation(processes);
  const refusals = new Set<string>();
  const seeds = { pdf: pdfOf("Quarterly", "report"), docx: docxOf("Quarterly", "report") };
  const file = Buffer.from(seeds[type]);

  async function apart(bytes: Buffer): Promise<string | undefined> {
    const remote = { id: `fuzz-${type}`, owner: "u1" };
    try {
      const text = await readFile(isolation, remote, { type, pieces: [bytes] }, (read) => read.part(0));
      return typeof text === "string" ? undefined : `${type} gave ${typeof text}`;
    } catch (error) {
      if (!(error instanceof DocumentError || error instanceof BusyError)) return (error as Error).stack;
      refusals.add(wordsOf((error as Error).message));
      return undefined;
    }
  }

  return {
    name: type,
    refusals,
    async one(random) {
      const bytes = random.once(20) ? file : changedBytes(file, random);
      if (random.once(APART)) return apart(bytes);
      let late: NodeJS.Timeout | undefined;
      const patience = new Promise<string>((resolve) => {
        late = setTimeout(() => resolve(`${type} never ends: ${bytes.toString("base64")}`), PATIENCE_MS);
      });
      const read = PARSERS[type](new Uint8Array(bytes)).then(
        () => undefined,
        (error: unknown) => void refusals.add(wordsOf(String((error as Error)?.message ?? error))),
      );
      const problem = await Promise.race([read, patience]);
      clearTimeout(late);
      return problem as string | undefined;
    },
    async close() {
      await isolation.close();
      await processes.close();
    },
  };
}
