import { crc32 } from "node:zlib";

/** A PDF of one page with these lines, as small as one can be. */
export function pdfOf(...lines: readonly string[]): Uint8Array {
  const shown = lines.map((line) => `(${line}) Tj 0 -30 Td`).join(" ");
  const stream = `BT /F1 24 Tf 72 700 Td ${shown} ET`;
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
    `<</Length ${stream.length}>>stream\n${stream}\nendstream`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
  ];
  let pdf = "%PDF-1.4\n";
  const offsets = objects.map((object, i) => {
    const offset = pdf.length;
    pdf += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const start = pdf.length;
  const size = objects.length + 1;
  pdf += `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join("")}`;
  return Buffer.from(`${pdf}trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${start}\n%%EOF`, "latin1");
}

/** A docx with a heading, a paragraph, and a table of these rows. */
export function docxOf(heading: string, paragraph: string, rows: readonly (readonly string[])[] = []): Uint8Array {
  const w = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
  const relationships = "http://schemas.openxmlformats.org/package/2006/relationships";
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const text = (words: string) => `<w:r><w:t>${words}</w:t></w:r>`;
  const style = `<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>`;
  const cell = (words: string) => `<w:tc><w:p>${text(words)}</w:p></w:tc>`;
  const table = rows.map((cells) => `<w:tr>${cells.map(cell).join("")}</w:tr>`).join("");
  const end = rows.length === 0 ? "" : `<w:tbl>${table}</w:tbl>`;
  const body = `<w:p>${style}${text(heading)}</w:p><w:p>${text(paragraph)}</w:p>${end}`;
  return zipOf({
    "[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    "_rels/.rels": `<Relationships xmlns="${relationships}"><Relationship Id="r" Type="${office}/officeDocument" Target="word/document.xml"/></Relationships>`,
    "word/_rels/document.xml.rels": `<Relationships xmlns="${relationships}"><Relationship Id="s" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
    "word/styles.xml": `<w:styles xmlns:w="${w}"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>`,
    "word/document.xml": `<w:document xmlns:w="${w}"><w:body>${body}</w:body></w:document>`,
  });
}

/** A zip that compresses nothing (PKWARE APPNOTE 6.3). */
export function zipOf(files: Readonly<Record<string, string>>): Uint8Array {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [path, text] of Object.entries(files)) {
    const [name, data] = [Buffer.from(path), Buffer.from(text)];
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), common, name, data]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from("PK\u0001\u0002"), Buffer.from([20, 0]), common, rest, name]));
    parts.push(local);
    at += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006", "latin1");
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, central, end]);
}
