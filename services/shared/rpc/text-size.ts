import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { FIXED_SIZE } from "./bounds.js";

// To walk a message without knowing its type takes longer than to read its fields by their names: each message type has
// a function of its own, whose source is made of names of our own descriptors.

/** The size of all texts of a message together. */
export type TextSize = (message: Message) => number;

/** The size of one text, such as its characters or its bytes. */
export type SizeOf = (text: string) => number;

/** Measures the texts of one value. */
type Measure = (value: never) => number;

/** What is compiled already, or being so: a message may contain itself. It is undefined for a message without texts. */
type Known = Map<DescMessage, Measure | undefined>;

/** Compiles the measure of one type of message. */
export function compileTextSize(desc: DescMessage, sizeOf: SizeOf): TextSize {
  return (measureOf(desc, sizeOf, new Map()) ?? (() => 0)) as TextSize;
}

function measureOf(desc: DescMessage, sizeOf: SizeOf, known: Known): Measure | undefined {
  if (FIXED_SIZE.has(desc.typeName)) return undefined;
  if (desc.typeName.startsWith("google.protobuf.")) return (value) => sizeIn(value, sizeOf);
  if (known.has(desc)) return known.get(desc);
  let measure: Measure | undefined;
  known.set(desc, (value) => measure?.(value) ?? 0);
  const measures = desc.fields.map((field) => fieldMeasureOf(field, sizeOf, known));
  const lines = desc.fields.flatMap((field, i) => (measures[i] === undefined ? [] : [lineOf(field, i)]));
  if (lines.length > 0)
    measure = new Function("f", `return (m) => { let n = 0, v; ${lines.join("\n")} return n; };`)(measures);
  known.set(desc, measure);
  return measure;
}

/** The source that adds the texts of a field. What is not given has none. */
function lineOf({ oneof, localName }: DescField, i: number): string {
  if (oneof !== undefined)
    return `if (m.${oneof.localName}.case === ${JSON.stringify(localName)}) n += f[${i}](m.${oneof.localName}.value);`;
  return `v = m.${localName}; if (v !== undefined) n += f[${i}](v);`;
}

function fieldMeasureOf(field: DescField, sizeOf: SizeOf, known: Known): Measure | undefined {
  if (field.fieldKind === "map") return (value) => sizeIn(value, sizeOf);
  const one = field.scalar === ScalarType.STRING ? sizeOf : field.message && measureOf(field.message, sizeOf, known);
  if (one === undefined || field.fieldKind !== "list") return one;
  return (values: readonly never[]) => {
    let size = 0;
    for (let i = 0; i < values.length; i++) size += one(values[i] as never);
    return size;
  };
}

/** The same for what has no type of ours: a map, or a document. */
function sizeIn(value: unknown, sizeOf: SizeOf): number {
  if (typeof value === "string") return sizeOf(value);
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return 0;
  let size = 0;
  for (const name in value) size += sizeIn((value as Record<string, unknown>)[name], sizeOf);
  return size;
}
