import { expect, test } from "vitest";
import { textOfPdf } from "../../../../services/core-objects/knowledge/apart/pdf.js";
import { passagesOf } from "../../../../services/core-objects/knowledge/passages.js";
import { pdfOf } from "./files.js";

/** A PDF of two pages with an outline: a chapter, a section in it that stands in the page, and a chapter that does not. */
function outlined(): Uint8Array {
  const page = (content: number) =>
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents ${content} 0 R/Resources<</Font<</F1 7 0 R>>>>>>`;
  const text = (...lines: string[]) => {
    const stream = `BT /F1 24 Tf 72 700 Td ${lines.map((line) => `(${line}) Tj 0 -30 Td`).join(" ")} ET`;
    return `<</Length ${stream.length}>>stream\n${stream}\nendstream`;
  };
  const objects = [
    "<</Type/Catalog/Pages 2 0 R/Outlines 8 0 R>>",
    "<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>",
    page(5),
    page(6),
    text("Chapter One", "It begins.", "1.1 Details", "They follow."),
    text("The text of the second page."),
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    "<</Type/Outlines/First 9 0 R/Last 11 0 R/Count 3>>",
    "<</Title(Chapter One)/Parent 8 0 R/Next 11 0 R/First 10 0 R/Last 10 0 R/Count 1/Dest[3 0 R/Fit]>>",
    "<</Title(Details)/Parent 9 0 R/Dest[3 0 R/Fit]>>",
    "<</Title(Second)/Parent 8 0 R/Prev 9 0 R/Dest[4 0 R/Fit]>>",
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

test("a passage of a PDF has its page, and the entries of the outline above it", async () => {
  const passages = passagesOf(await textOfPdf(outlined()), "pdf");
  expect(passages.map(({ text, headings, page }) => [text, headings, page])).toEqual([
    ["It begins.", ["Chapter One"], 1],
    ["They follow.", ["Chapter One", "Details"], 1],
    ["The text of the second page.", ["Second"], 2],
  ]);
});

test("a PDF without an outline has pages", async () => {
  const [passage] = passagesOf(await textOfPdf(pdfOf("Isolate the host", "Then rotate")), "pdf");
  expect(passage).toMatchObject({ page: 1, headings: [] });
});
