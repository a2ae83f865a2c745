import { crc32, deflateRawSync, deflateSync } from "node:zlib";

// Hostile documents: small files of which much comes, and texts that are cut badly.

/** A document as create_document takes it. */
export interface HostileDocument {
  readonly type: "text" | "markdown" | "html" | "pdf" | "docx";
  readonly content?: string;
  /** Base64. */
  readonly file?: string;
}

const W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";

/** A docx whose text is packed as tightly as it goes. */
function docx(document: string): HostileDocument {
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const files = {
    "[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    "_rels/.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="${office}/officeDocument" Target="word/document.xml"/></Relationships>`,
    "word/document.xml": document,
  };
  return { type: "docx", file: zipped(files).toString("base64") };
}

/** A zip that compresses (PKWARE APPNOTE 6.3). */
function zipped(files: Readonly<Record<string, string>>): Buffer {
  const [parts, directory]: [Buffer[], Buffer[]] = [[], []];
  let at = 0;
  for (const [path, text] of Object.entries(files)) {
    const [name, data] = [Buffer.from(path), Buffer.from(text)];
    const packed = deflateRawSync(data);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), common, name, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from("PK\u0001\u0002"), Buffer.from([20, 0]), common, rest, name]));
    parts.push(local);
    at += local.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(parts.length, 4);
  end.writeUInt16LE(parts.length, 6);
  end.writeUInt32LE(index.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, index, Buffer.from("PK\u0005\u0006"), end]);
}

function pdf(text: string): HostileDocument {
  const stream = deflateSync(Buffer.from(text), { level: 9 });
  const head = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
4 0 obj<</Filter/FlateDecode/Length ${stream.length}>>stream
`;
  const end = "\nendstream endobj\ntrailer<</Size 6/Root 1 0 R>>\n%%EOF";
  return { type: "pdf", file: Buffer.concat([Buffer.from(head), stream, Buffer.from(end)]).toString("base64") };
}

/** Each by what is wrong with it. */
export const DOCUMENTS: Readonly<Record<string, () => HostileDocument>> = {
  "a PDF that unpacks to 56 MB": () => pdf(`BT /F1 9 Tf ${"(aaaaaaaa) Tj ".repeat(4_000_000)} ET`),
  "a PDF whose pages are each other's": () => ({
    type: "pdf",
    file: Buffer.from(
      "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[2 0 R 2 0 R]/Count 99999999>>endobj\ntrailer<</Root 1 0 R>>",
    ).toString("base64"),
  }),
  "a docx that unpacks to 50 MB": () =>
    docx(
      `<w:document xmlns:w="${W}"><w:body>${"<w:p><w:r><w:t>a</w:t></w:r></w:p>".repeat(1_500_000)}</w:body></w:document>`,
    ),
  "a docx that is nested 1,000,000 deep": () =>
    docx(`<w:document xmlns:w="${W}">${"<w:p>".repeat(1_000_000)}</w:document>`),
  "HTML that is nested 170,000 deep": () => ({ type: "html", content: "<b>".repeat(170_000) }),
  "HTML of lists in lists": () => ({ type: "html", content: "<ul><li>a".repeat(50_000) }),
  "HTML of entities": () => ({ type: "html", content: "&amp;".repeat(100_000) }),
  "Markdown of 20,000 headings": () => ({ type: "markdown", content: "# a\n\nb\n\n".repeat(20_000) }),
  "a text of blanks and stops": () => ({ type: "text", content: `${". ".repeat(200_000)}a` }),
};
