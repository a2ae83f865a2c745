// The worst texts of a length: each is known to be dear to something that reads
// texts, an expression, a parser, a renderer or a table of words.

/** A kind of text, made to a number of characters. */
type Text = (characters: number) => string;

const repeated =
  (piece: string): Text =>
  (asked) => {
    const [characters, points] = [Math.max(0, asked), [...piece]];
    return piece.repeat(Math.floor(characters / points.length)) + points.slice(0, characters % points.length).join("");
  };

const framed =
  (first: string, piece: string, last: string): Text =>
  (characters) => {
    const inside = characters - [...first, ...last].length;
    return inside < 1 ? repeated(piece)(characters) : first + repeated(piece)(inside) + last;
  };

const words: Text = (characters) => {
  let text = "";
  for (let n = 0; text.length < characters; n++) text += `${n.toString(36)} `;
  return text.slice(0, characters).replace(/ $/, "x");
};

const nested =
  (open: string, close: string): Text =>
  (characters) => {
    const depth = Math.floor(characters / (open.length + close.length));
    return depth === 0 ? repeated("x")(characters) : open.repeat(depth) + close.repeat(depth);
  };

/** Texts that say the most to most readers: every field is given these. */
export const ALWAYS: Readonly<Record<string, Text>> = {
  "one letter": repeated("a"),
  "a letter and an end that does not match": framed("", "a", "!"),
  "four bytes a character": repeated("𝒳"),
};

/** Texts of fields that hold more than a name. */
export const LONGER: Readonly<Record<string, Text>> = {
  "three bytes a character": repeated("한"),
  "combining marks": framed("e", "\u0301", "e"),
  "hidden characters": framed("x", "\u200b\u202e", "x"),
  "only line ends": framed("x", "\n", "x"),
  "only spaces": framed("x", " ", "x"),
  "many short words": repeated("a b c "),
  "distinct words": words,
  stars: repeated("*a"),
  "regular expressions": repeated("(a+)+$|"),
  "open brackets": repeated("("),
  backslashes: repeated("\\"),
  quotes: repeated('"'),
  slashes: framed("x", "/", "x"),
  braces: repeated("{{"),
  "places to fill in": repeated("{{a}}"),
  digits: repeated("9"),
  commas: repeated("a,"),
  percents: repeated("%25"),
};

/** Texts of fields that hold documents. */
export const DOCUMENTS: Readonly<Record<string, Text>> = {
  "nested JSON": nested("[", "]"),
  "nested objects": nested('{"a":', "}"),
  "nested quotes of Markdown": repeated("> "),
  "open links of Markdown": repeated("[a]("),
  "emphasis of Markdown": repeated("*a_"),
  "headings of Markdown": repeated("# a\n"),
  "a table of Markdown": repeated("|a"),
  "nested HTML": nested("<div>", "</div>"),
  "open HTML": repeated("<b>"),
  "attributes of HTML": framed("<a ", "b=1 ", ">"),
  entities: repeated("&amp;"),
  "open comments": repeated("<!--"),
};

/** Texts by what the name of a field says that it holds. */
export const BY_NAME: readonly (readonly [RegExp, Readonly<Record<string, Text>>])[] = [
  [
    /url|endpoint|uri|link/,
    {
      "a long host": (characters) => `https://${repeated("a.")(Math.min(characters - 10, 240))}b/`,
      "a long path": (characters) => `https://example.com/${repeated("a/")(characters - 21)}b`,
      "a long query": (characters) => `https://example.com/?${repeated("a=b&")(characters - 22)}b`,
      "slashes at its end": (characters) => `https://example.com${repeated("/")(characters - 20)}x`,
      "places in its path": (characters) => `https://example.com/${repeated("{a}")(characters - 20)}`,
    },
  ],
  [
    /pattern/,
    {
      "STIX comparisons": (characters) =>
        `[${repeated("file:name = 'a' OR ")(Math.max(0, characters - 20))}a:b = 'c']`.slice(0, characters),
      "STIX brackets": nested("(", ")"),
      "STIX quotes": framed("[file:name = '", "\\'", "']"),
    },
  ],
  [
    /cron|schedule|recurrence/,
    {
      never: () => "0 0 0 30 2 *",
      "once in years": () => "0 0 0 29 2 1",
      "every second": () => "* * * * * *",
      "never, in minutes": () => "0 0 30 2 *",
      lists: (characters) => {
        const list = Array.from({ length: 60 }, (_, n) => n).join(",");
        return `${list.slice(0, Math.max(1, characters - 12)).replace(/,\d*$/, "")} * * * 2 1`;
      },
    },
  ],
  [
    /time|date|since|until|after|before|start|stop/,
    {
      "the last date": () => "9999-12-31T23:59:59.999999999Z",
      "a date beyond": () => "+275760-09-13T00:00:00Z",
      "a long date": (characters) => `2026-01-01T00:00:00.${repeated("0")(characters - 21)}Z`,
    },
  ],
  [
    /page_token/,
    {
      "a forged token": (characters) =>
        Buffer.from(`after:${repeated("z")(Math.floor((characters * 3) / 4) - 7)}`).toString("base64url"),
      "a forged token of numbers": (characters) =>
        Buffer.from(`after:${repeated("9")(Math.floor((characters * 3) / 4) - 7)}`).toString("base64url"),
    },
  ],
];
