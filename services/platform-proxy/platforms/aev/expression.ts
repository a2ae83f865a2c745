/** What may follow a backslash; letters mean nothing else in Java. */
const ESCAPE =
  /\\(?:[^A-Za-z0]|0[0-7]|b\{g\}|[tnrfaedDsSwWhHvVRXbBAGZz]|c[\s\S]|x(?:[0-9A-Fa-f]{2}|\{0*(?:10|[0-9A-Fa-f])?[0-9A-Fa-f]{1,4}\})|u[0-9A-Fa-f]{4}|[pP](?:\{(?<property>[^}]+)\}|[A-Za-z])|N\{[^}]+\}|k<(?<reference>[A-Za-z][A-Za-z0-9]*)>)/y;
/** How a group begins. */
const GROUP = /\((?:\?(?:[:=!>]|<[=!]|<(?<name>[A-Za-z][A-Za-z0-9]*)>|[idmsuxU]*-?[idmsuxU]*[:)]))?/y;
const REPETITION = /(?:[*+?]|\{(?<least>\d{1,9})(?:,(?<most>\d{1,9})?)?\})[+?]?/y;
/** The text that is quoted. */
const QUOTED = /\\Q[\s\S]*?(?:\\E|$)/y;
const RANGE = /([^\\[\]&])-([^\\[\]&])/y;
/** A range that ends in what is no single letter. */
const RANGE_TO_MANY = /[^\\[\]&]-\\[dDsSwWhHvVRXpP]/y;
/** A property of letters; that there is a script, a block or a method of that name is not told here. */
const PROPERTY =
  /^(?:Is\w+|In.+|java\w+|(?:sc|script|blk|block|gc|general_category)=.+|L[ultmoCD1]?|M[nec]?|N[dlo]?|Z[slp]?|C[cfosn]?|P[dsecoif]?|S[mcko]?|all|ASCII|Alnum|Alpha|Blank|Cntrl|Digit|Graph|Lower|Print|Punct|Space|Upper|XDigit)$/;

/**
 * What is wrong with a regular expression as Java reads it; undefined where nothing is that can be told here. The
 * platform stores any text, and fails over a broken one when a player answers.
 */
export function expressionProblem(text: string): string | undefined {
  const names = new Set<string>();
  let at = 0;
  let groups = 0;
  /** How deep in classes: Java lets a class hold others. */
  let classes = 0;
  let canRepeat = false;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at += found[0].length;
    return found;
  };
  while (at < text.length) {
    const letter = text[at] as string;
    if (take(QUOTED) !== null) canRepeat = true;
    else if (letter === "\\") {
      if (at === text.length - 1) return "ends in a single backslash";
      const found = take(ESCAPE);
      if (found === null) return `has \\${text[at + 1]}, which Java does not know or needs more after it`;
      const { reference, property } = found.groups ?? {};
      if (property !== undefined && !PROPERTY.test(property))
        return `has \\p{${property}}, and Java knows no such property of letters`;
      if (reference !== undefined && !names.has(reference))
        return `refers to a group ${reference} that is not before it`;
      canRepeat = true;
    } else if (letter === "[") {
      classes++;
      at++;
      // The first bracket of a class may stand for itself.
      take(/\^?\]?/y);
    } else if (classes > 0) {
      if (take(RANGE_TO_MANY) !== null) return "has a range that does not end in a single letter";
      const range = take(RANGE);
      if (range !== null && (range[1] as string) > (range[2] as string))
        return `has a range ${range[0]} that runs backwards`;
      if (range !== null) continue;
      if (letter === "]") classes--;
      canRepeat = true;
      at++;
    } else if (letter === "(") {
      const { 0: begin, groups: found } = take(GROUP) as RegExpExecArray;
      if (text[at] === "?" && begin === "(") return "has a ( followed by a ? and what Java does not know";
      const name = found?.name;
      if (name !== undefined && names.has(name)) return `has two groups ${name}`;
      if (name !== undefined) names.add(name);
      if (!begin.endsWith(")")) groups++;
      // Flags alone, such as (?i), are nothing that can be repeated.
      canRepeat = false;
    } else if (letter === ")") {
      if (--groups < 0) return "closes a group that was not opened";
      canRepeat = true;
      at++;
    } else if ("*+?{".includes(letter)) {
      // Java lets {2} repeat nothing.
      if (!canRepeat && letter !== "{") return `has a ${letter} that repeats nothing`;
      const { least, most } = take(REPETITION)?.groups ?? { least: letter === "{" ? "" : "0" };
      if (least === "") return "has a { that is not followed by a number of times and a }";
      if (most !== undefined && Number(most) < Number(least))
        return `has a repetition {${least},${most}} that runs backwards`;
      canRepeat = false;
    } else {
      canRepeat = letter !== "|";
      at++;
    }
  }
  if (classes > 0) return "has an unclosed [";
  return groups > 0 ? "has an unclosed (" : undefined;
}
