// How texts and questions become terms: words, and besides them whole what is
// looked for as a whole, such as CVE-2024-3094, T1059.001, 198.51.100.7, a domain
// or a hash.

/** Words, joined or not: each is read once, however long it is. */
const JOINED = /[\p{L}\p{N}]+(?:[-._:/@][\p{L}\p{N}]+)*/gu;
const JOINT = /[-._:/@]/;

/** Words of English that tell no text from another. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  "a about after all also an and any are as at be been before but by can could did do does for from had has have he her his how i if in into is it its me more most my no not of on one only or other our out over should so some such than that the their them then there these they this those to too under up us use used was we were what when where which who why will with would you your".split(
    " ",
  ),
);

/** The terms of a text, in the order in which they stand; what is joined after its words. */
export function termsIn(text: string): string[] {
  return (text.match(JOINED) ?? []).flatMap((one) => (JOINT.test(one) ? [...one.split(JOINT), one] : one));
}

/** A term as it is compared; null for one that tells nothing. */
export function termOf(word: string): string | null {
  const lower = word.toLowerCase();
  if (STOP_WORDS.has(lower) || lower.length > 100) return null;
  return stem(lower);
}

/** Plurals and the commonest endings of English verbs: what a question says in another form. */
function stem(word: string): string {
  if (word.length < 5 || /[^a-z]/.test(word)) return word;
  return word
    .replace(/(?:sses|ies)$/, (ending) => (ending === "ies" ? "y" : "ss"))
    .replace(/([^s])s$/, "$1")
    .replace(/(.{3,})(?:ing|ed)$/, "$1");
}
