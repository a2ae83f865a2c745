import { readFileSync } from "node:fs";
import { type Document, isMap, isNode, isSeq, LineCounter, parseDocument } from "yaml";

/** A Markdown file that begins with YAML between lines of `---`: front matter, as SKILL.md has it. */
export interface FrontMatter {
  /** What stands after the front matter. */
  readonly body: string;
  /** The text of a key, or of a key in a key. @throws Error where it is none. */
  text(...keys: string[]): string;
  /** The list of texts of a key, or of a key in a key. @throws Error where it is none. */
  texts(...keys: string[]): string[];
  /** The names in the mapping of a key. @throws Error where it is none. */
  names(...keys: string[]): string[];
  /** An error that says with file and line what is wrong with a key. */
  wrong(keys: readonly string[], what: string): Error;
}

/**
 * Reads a Markdown file with front matter.
 *
 * @throws Error that names file and line for front matter that is missing or not a YAML mapping.
 */
export function readFrontMatter(path: string): FrontMatter {
  const found = /^---\r?\n(?<head>.*?)\r?\n---\r?\n\s*(?<body>.*)$/s.exec(readFileSync(path, "utf8"))?.groups;
  if (found === undefined) throw new Error(`${path}:1: does not begin with front matter between lines of ---`);
  const lines = new LineCounter();
  const head = parseDocument(found.head!, { lineCounter: lines, prettyErrors: false });
  const [error] = head.errors;
  if (error !== undefined) throw new Error(`${path}:${lineOf(lines, error.pos[0])}: ${error.message}`);
  if (!isMap(head.contents)) throw new Error(`${path}:2: the front matter is not a mapping`);
  return new Parsed(path, head, lines, found.body!);
}

class Parsed implements FrontMatter {
  constructor(
    private readonly path: string,
    private readonly head: Document,
    private readonly lines: LineCounter,
    readonly body: string,
  ) {}

  text(...keys: string[]): string {
    const value = this.head.getIn(keys);
    if (typeof value !== "string" || value === "") throw this.wrong(keys, "must be a text");
    return value;
  }

  texts(...keys: string[]): string[] {
    const node = this.head.getIn(keys);
    const value: unknown = isSeq(node) ? node.toJSON() : undefined;
    if (!Array.isArray(value) || value.some((item) => typeof item !== "string"))
      throw this.wrong(keys, "must be a list of texts");
    return value as string[];
  }

  names(...keys: string[]): string[] {
    const node = this.head.getIn(keys);
    if (!isMap(node)) throw this.wrong(keys, "must be a mapping");
    return node.items.map(({ key }) => String(key));
  }

  wrong(keys: readonly string[], what: string): Error {
    const node = this.head.getIn(keys, true);
    const at = isNode(node) ? node.range?.[0] : undefined;
    return new Error(`${this.path}:${at === undefined ? 1 : lineOf(this.lines, at)}: ${keys.join(".")} ${what}`);
  }
}

/** The line in the file: the front matter begins on the second. */
function lineOf(lines: LineCounter, at: number): number {
  return lines.linePos(at).line + 1;
}
