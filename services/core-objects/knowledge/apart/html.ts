import { Parser } from "htmlparser2";

/** Elements whose text nobody reads. */
const SILENT: ReadonlySet<string> = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "head",
  "svg",
  "iframe",
  "nav",
]);
/** Elements that end a paragraph. */
const BLOCKS: ReadonlySet<string> = new Set(
  "address article aside blockquote dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main ol p pre section table tr ul".split(
    " ",
  ),
);

/** What a reader sees of HTML, with its headings and lists as Markdown has them. */
export function markdownOf(html: string): string {
  const blocks: string[] = [];
  let block = "";
  let mark = "";
  let silent = 0;
  let pre = 0;
  const flush = (): void => {
    const text = pre > 0 ? block.trimEnd() : block.replace(/\s+/g, " ").trim();
    if (text !== "") blocks.push(pre > 0 ? `\`\`\`\n${text}\n\`\`\`` : `${mark}${text}`);
    [block, mark] = ["", ""];
  };
  const parser = new Parser({
    onopentagname(name) {
      if (SILENT.has(name)) silent++;
      if (BLOCKS.has(name)) flush();
      if (/^h[1-6]$/.test(name)) mark = `${"#".repeat(Number(name[1]))} `;
      else if (name === "li") mark = "- ";
      else if (name === "pre") pre++;
      else if (name === "br") block += "\n";
      else if (name === "td" || name === "th") block += " | ";
    },
    ontext(text) {
      if (silent === 0) block += text;
    },
    onclosetag(name) {
      if (BLOCKS.has(name)) flush();
      if (name === "pre") pre = Math.max(0, pre - 1);
      if (SILENT.has(name)) silent = Math.max(0, silent - 1);
    },
  });
  parser.write(html);
  parser.end();
  flush();
  return blocks.join("\n\n");
}
