import type { Knowledge } from "./knowledge.js";
import { PIECE, type PieceRecord, type SourceRecord } from "./records.js";

// Files and long texts stand in several records, since a database takes 16 MB in
// one. A piece is written under the id that it always has: twice is once.

/** Whose a piece is. */
export type Whose = Pick<PieceRecord, "document" | "source" | "of">;

/** Writes a piece, in the place of the same one. */
export async function writePiece(
  { pieces }: Pick<Knowledge, "pieces">,
  whose: Whose,
  n: number,
  { start, data }: Pick<PieceRecord, "start" | "data">,
): Promise<void> {
  await pieces.updateOne({ _id: pieceIdOf(whose, n) }, { $set: { ...whose, n, start, data } }, { upsert: true });
}

/** The id of a piece. */
export function pieceIdOf({ source, of }: Whose, n: number): string {
  return `${source}.${of}.${n}`;
}

/** How many pieces a file has. */
export function piecesIn(bytes: number): number {
  return Math.ceil(bytes / PIECE);
}

/** The bytes of a source's file, piece by piece. */
export async function* fileOf(
  { pieces }: Pick<Knowledge, "pieces">,
  { _id: source, document, file, filed = 0 }: SourceRecord,
): AsyncIterable<Uint8Array> {
  if (file !== undefined) for (let at = 0; at < file.length; at += PIECE) yield file.subarray(at, at + PIECE);
  for (let n = 0; n < piecesIn(filed); n++) {
    const piece = await pieces.findOne({ _id: pieceIdOf({ document, source, of: "file" }, n) });
    if (piece === null) throw new Error(`piece ${n} of the file of the document ${document} is missing`);
    yield piece.data;
  }
}

/** How many parts the text of a source has. */
export function textPartsIn({ parted }: Pick<SourceRecord, "parted">): number {
  return parted === undefined ? 1 : parted.length - 1;
}

/** The bytes of a source's text. */
export function textBytesIn({ parted, text }: Pick<SourceRecord, "parted" | "text">): number {
  return parted?.at(-1) ?? Buffer.byteLength(text);
}

/** One part of the text of a source. */
export async function textPart(
  { pieces }: Pick<Knowledge, "pieces">,
  { _id: source, document, text, parted }: SourceRecord,
  n: number,
): Promise<string> {
  if (parted === undefined) return text;
  const piece = await pieces.findOne({ _id: pieceIdOf({ document, source, of: "text" }, n) });
  if (piece === null) throw new Error(`part ${n} of the text of the document ${document} is missing`);
  return Buffer.from(piece.data).toString("utf8");
}

/** The bytes of a text that stands in parts, from one position to before another. */
export async function textBytes(
  { pieces }: Pick<Knowledge, "pieces">,
  { _id: source, document, parted = [0] }: SourceRecord,
  from: number,
  to: number,
): Promise<Buffer> {
  const found: Buffer[] = [];
  for (let n = 0; n + 1 < parted.length; n++) {
    const [start, end] = [parted[n] as number, parted[n + 1] as number];
    if (end <= from || start >= to) continue;
    const piece = await pieces.findOne({ _id: pieceIdOf({ document, source, of: "text" }, n) });
    if (piece !== null) found.push(Buffer.from(piece.data).subarray(Math.max(0, from - start), to - start));
  }
  return Buffer.concat(found);
}
