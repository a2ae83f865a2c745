import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { FIXED_SIZE } from "./bounds.js";

// To walk a message without knowing its type takes longer than to read its fields by their names: each message type has
// a function of its own, whose source is made of names of our own descriptors.

/** The characters of all texts of a message, in UTF-16 units. */
export type TextLength = (message: Message) => number;

/** Counts the texts of one value; undefined if it has none. */
type Count = (value: never) => number;

/** Compiles the count for one type of message. */
export function compileTextLength(desc: DescMessage): TextLength {
  return (countOf(desc, new Map()) ?? (() => 0)) as TextLength;
}

/** @param known functions that are compiled, or being so: a message may contain itself. */
function countOf(desc: DescMessage, known: Map<DescMessage, Count>): Count | undefined {
  if (FIXED_SIZE.has(desc.typeName)) return undefined;
  if (desc.typeName.startsWith("google.protobuf.")) return lengthIn;
  const before = known.get(desc);
  if (before !== undefined) return before;
  let count: Count = () => 0;
  known.set(desc, (value) => count(value));
  const counts = desc.fields.map((field) => fieldCountOf(field, known));
  const lines = desc.fields.flatMap((field, i) => (counts[i] === undefined ? [] : [lineOf(field, i)]));
  if (lines.length > 0)
    count = new Function("c", `return (m) => { let n = 0, v; ${lines.join("\n")} return n; };`)(counts);
  return count;
}

/** The source that adds the texts of a field. What is not given has none. */
function lineOf({ oneof, localName }: DescField, i: number): string {
  if (oneof !== undefined)
    return `if (m.${oneof.localName}.case === ${JSON.stringify(localName)}) n += c[${i}](m.${oneof.localName}.value);`;
  return `v = m.${localName}; if (v !== undefined) n += c[${i}](v);`;
}

function fieldCountOf(field: DescField, known: Map<DescMessage, Count>): Count | undefined {
  if (field.fieldKind === "map") return lengthIn;
  const one = field.scalar === ScalarType.STRING ? ofText : field.message && countOf(field.message, known);
  if (one === undefined || field.fieldKind !== "list") return one;
  return (values: readonly never[]) => {
    let count = 0;
    for (let i = 0; i < values.length; i++) count += one(values[i] as never);
    return count;
  };
}

const ofText = (text: string): number => text.length;

/** The same for what has no type of ours: a map, or a document. */
function lengthIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return 0;
  let length = 0;
  for (const name in value) length += lengthIn((value as Record<string, unknown>)[name]);
  return length;
}
