/**
 * What is wrong with a regular expression, whatever its dialect; undefined where nothing is that can be told here.
 * The platform stores any text, and fails over a broken one when a player answers. It reads Java's dialect, which has
 * more than JavaScript's, so that only brackets and what hangs in the air are looked at.
 */
export function expressionProblem(expression: string): string | undefined {
  // What is quoted is text.
  const text = expression.replace(/\\Q[\s\S]*?(?:\\E|$)/g, "q");
  let groups = 0;
  let isClass = false;
  let canRepeat = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (letter === "\\") {
      if (++at >= text.length) return "ends in a single backslash";
      canRepeat = true;
    } else if (isClass) {
      if (letter === "]") [isClass, canRepeat] = [false, true];
    } else if (letter === "[") {
      isClass = true;
      // The first bracket of a class may stand for itself.
      if (/^\^?\]/.test(text.slice(at + 1))) at = text.indexOf("]", at);
    } else if (letter === "(") {
      groups++;
      canRepeat = false;
      // What kind of a group it is.
      if (text[at + 1] === "?") at++;
    } else if (letter === ")") {
      if (--groups < 0) return "closes a group that was not opened";
      canRepeat = true;
    } else if ("*+?".includes(letter)) {
      if (!canRepeat) return `has a ${letter} that repeats nothing`;
    } else canRepeat = letter !== "|";
  }
  if (isClass) return "has an unclosed [";
  return groups > 0 ? "has an unclosed (" : undefined;
}
