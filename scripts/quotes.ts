// What a page quotes of a file is the file: a fenced block after
// `<!-- quote PATH -->` holds all of it, after `<!-- quote PATH [part] -->` the
// lines between the comment `[part]` and the next such comment.

const QUOTE = /(<!-- quote (\S+?)(?: \[(\w+)\])? -->\n```\w*\n)[\s\S]*?(^```$)/gm;
const MARK = /^\s*(?:#|\/\/) \[(\w+)\]$/;

/**
 * The same page with its quotes as the files have them now.
 *
 * @param read the text of a file, by its path.
 * @throws Error where a file has no such part.
 */
export function quoted(page: string, read: (path: string) => string): string {
  return page.replace(QUOTE, (_whole, before: string, path: string, part: string | undefined, after: string) => {
    const lines = read(path).trimEnd().split("\n");
    const own = part === undefined ? lines : partOf(lines, part, path);
    return `${before}${own.join("\n")}\n${after}`;
  });
}

function partOf(lines: readonly string[], part: string, path: string): string[] {
  const from = lines.findIndex((line) => MARK.exec(line)?.[1] === part);
  if (from === -1) throw new Error(`${path} has no part [${part}]`);
  const rest = lines.slice(from + 1);
  const to = rest.findIndex((line) => MARK.test(line));
  const own = to === -1 ? rest : rest.slice(0, to);
  while (own.at(-1)?.trim() === "") own.pop();
  const indent = Math.min(
    ...own.filter((line) => line.trim() !== "").map((line) => /^\s*/.exec(line)?.[0].length ?? 0),
  );
  return own.map((line) => line.slice(indent));
}
