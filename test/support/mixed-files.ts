import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { docxOf, pdfOf, zipOf } from "../services/core-objects/knowledge/files.js";

// A folder as people have them: many small files, some large ones that are mostly
// images, and some that are broken. Every good file has a word that no other has.

/** What was written. */
export interface Mixed {
  /** By path within the folder: the word that finds the file. */
  readonly good: ReadonlyMap<string, string>;
  /** By path: how the reason begins or what it contains. */
  readonly broken: ReadonlyMap<string, string>;
  readonly bytes: number;
}

const MIB = 2 ** 20;

/** Writes so many files into a folder; at least 40. */
export function writeMixed(folder: string, count = 200): Mixed {
  let bytes = 0;
  const [good, broken] = [new Map<string, string>(), new Map<string, string>()];
  const write = (path: string, file: string | Uint8Array): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), file);
    bytes += Buffer.byteLength(file);
  };
  const add = (path: string, file: (word: string) => string | Uint8Array): void => {
    const word = `mark${good.size}x${(good.size * 7_919) % 10_007}`;
    write(path, file(word));
    good.set(path, word);
  };

  add("large/40 MB.pdf", (word) => padded(pdfOf(`Findings ${word}`, "More of them"), 40 * MIB));
  add("large/24 MB.docx", (word) => withMedia(word, 24 * MIB));
  add(
    "large/12 MB.html",
    (word) => `<h1>Pictures</h1><p>${word}</p><img src="data:${"A".repeat(12 * MIB)}"><p>End.</p>`,
  );
  add("large/250 KB.txt", (word) => `${sentences(word, 1)}\n\n${sentences("filling", 250)}`);
  add(
    "large/200 KB.md",
    (word) => `# Title\n\n${sentences("filling", 200)}\n\n## Last\n\n${word} stands at the end.\n`,
  );
  add("large/2 MB.pdf", (word) => padded(pdfOf(word), 2 * MIB));

  write("broken/cut.pdf", pdfOf("never").subarray(0, 100));
  broken.set("broken/cut.pdf", "cannot be read as pdf");
  write("broken/no.pdf", "This is no PDF.");
  broken.set("broken/no.pdf", "file is not a pdf");
  write("broken/cut.docx", docxOf("never", "never").subarray(0, 300));
  broken.set("broken/cut.docx", "cannot be read as docx");
  write("broken/empty.md", "");
  broken.set("broken/empty.md", "it is empty");
  write("broken/blank.txt", " \n\n ");
  broken.set("broken/blank.txt", "it contains no text");
  write("broken/picture.png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 1]));
  broken.set("broken/picture.png", "its format is not known");

  for (let n = good.size + broken.size; n < count; n++) {
    const size = 1 + (n % 3);
    const name = `team ${n % 7}/file ${n}`;
    if (n % 4 === 0) add(`${name}.md`, (word) => `# File ${n}\n\n## Part\n\n${sentences(word, size)}`);
    else if (n % 4 === 1) add(`${name}.txt`, (word) => sentences(word, size));
    else if (n % 4 === 2)
      add(`${name}.html`, (word) => `<html><body><h1>File ${n}</h1><p>${sentences(word, size)}</p></body></html>`);
    else if (n % 8 === 3) add(`${name}.docx`, (word) => docxOf(`File ${n}`, sentences(word, size)));
    else add(`${name}.pdf`, (word) => pdfOf(`File ${n}`, word, "and more"));
  }
  return { good, broken, bytes };
}

/** About a kilobyte each. */
function sentences(word: string, kilobytes: number): string {
  return Array.from(
    { length: kilobytes },
    (_, i) =>
      `${i === 0 ? word : "The next paragraph"} is about item ${i}. ${"It says what there is to say of it. ".repeat(26)}`,
  ).join("\n\n");
}

/** A PDF with a comment before its table, as large as pictures would make it. */
function padded(pdf: Uint8Array, bytes: number): Uint8Array {
  const text = Buffer.from(pdf).toString("latin1");
  const at = text.indexOf("xref\n");
  const comment = `%${"p".repeat(bytes)}\n`;
  const rest = text.slice(at).replace(`startxref\n${at}\n`, `startxref\n${at + comment.length}\n`);
  return Buffer.from(`${text.slice(0, at)}${comment}${rest}`, "latin1");
}

/** A docx with a picture. */
function withMedia(word: string, bytes: number): Uint8Array {
  const w = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
  const package_ = "http://schemas.openxmlformats.org/package/2006";
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  return zipOf({
    "[Content_Types].xml": `<Types xmlns="${package_}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    "_rels/.rels": `<Relationships xmlns="${package_}/relationships"><Relationship Id="r" Type="${office}/officeDocument" Target="word/document.xml"/></Relationships>`,
    "word/media/picture.bin": "p".repeat(bytes),
    "word/document.xml": `<w:document xmlns:w="${w}"><w:body><w:p><w:r><w:t>${word} has a picture.</w:t></w:r></w:p></w:body></w:document>`,
  });
}
