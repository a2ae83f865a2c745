import { parseAst } from "vitest/node";
import type { Passage } from "./style.js";

/** A node of a source's syntax tree (ESTree), as far as it is read here. */
interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly value?: unknown;
  readonly expressions?: readonly SyntaxNode[];
}

/**
 * The string literals of a TypeScript source that have at least three words,
 * each with its line. A template is one literal: "…" stands for its expressions.
 */
export function sentencesOf(file: string, source: string): Passage[] {
  const found: Passage[] = [];
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) part.forEach(visit);
    if (typeof part !== "object" || part === null || !("type" in part)) return;
    const node = part as SyntaxNode;
    const text = textOf(node, source);
    if (text !== undefined && wordsIn(text) >= 3) {
      const line = source.slice(0, node.start).split("\n").length;
      found.push({ at: `${file}:${line}`, text });
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseAst(source, { lang: "ts" }));
  return found;
}

function textOf(node: SyntaxNode, source: string): string | undefined {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type !== "TemplateLiteral") return undefined;
  let text = "";
  let from = node.start + 1;
  for (const { start, end } of node.expressions ?? []) {
    text += `${source.slice(from, start).replace(/\$\{\s*$/, "")}…`;
    from = end + (/^\s*\}/.exec(source.slice(end))?.[0].length ?? 0);
  }
  return text + source.slice(from, node.end - 1);
}

const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => /\p{L}/u.test(word)).length;
