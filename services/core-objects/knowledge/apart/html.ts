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

/** Those that do not end the row of a table that they are in: it stays on one line. */
const IN_CELL: ReadonlySet<string> = new Set("blockquote dd div dl dt li ol p ul".split(" "));
/** Elements that have no end, so that nothing is in them. */
const VOID: ReadonlySet<string> = new Set(
  "area base br col embed hr img input link meta param source track wbr".split(" "),
);
const HIDDEN = /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;

/** Whether an element says that nobody sees it. */
function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  const { hidden, style = "", "aria-hidden": aria } = attributes;
  return hidden !== undefined || aria === "true" || HIDDEN.test(style);
}

/** What a reader sees of HTML: headings and lists as Markdown has them, a row of a table on a line of its own. */
export function markdownOf(html: string): string {
  const blocks: string[] = [];
  let block = "";
  let mark = "";
  let silent = 0;
  let pre = 0;
  /** Rows of tables around what is read. */
  let rows = 0;
  /** The elements around what is read, from the first that is hidden. */
  let hidden = 0;
  const flush = (): void => {
    const text = pre > 0 ? block.trimEnd() : block.replace(/\s+/g, " ").trim();
    if (text !== "") blocks.push(pre > 0 ? `\`\`\`\n${text}\n\`\`\`` : `${mark}${text}`);
    [block, mark] = ["", ""];
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      if (!VOID.has(name) && (hidden > 0 || isHidden(attributes))) hidden++;
      if (SILENT.has(name)) silent++;
      const isInCell = rows > 0 && IN_CELL.has(name);
      if (isInCell) block += " ";
      else if (BLOCKS.has(name)) flush();
      if (/^h[1-6]$/.test(name)) mark = `${"#".repeat(Number(name[1]))} `;
      else if (name === "li" && !isInCell) mark = "- ";
      else if (name === "pre") pre++;
      else if (name === "br") block += "\n";
      else if (name === "tr") rows++;
      else if (name === "td" || name === "th") block += " | ";
    },
    ontext(text) {
      if (silent === 0 && hidden === 0) block += text;
    },
    onclosetag(name) {
      if (hidden > 0 && !VOID.has(name)) hidden--;
      if (BLOCKS.has(name) && !(rows > 0 && IN_CELL.has(name))) flush();
      if (name === "tr") rows = Math.max(0, rows - 1);
      if (name === "pre") pre = Math.max(0, pre - 1);
      if (SILENT.has(name)) silent = Math.max(0, silent - 1);
    },
  });
  parser.write(html);
  parser.end();
  flush();
  return blocks.join("\n\n");
}
