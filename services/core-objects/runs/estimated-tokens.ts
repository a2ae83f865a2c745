/** Characters of a token, about. */
const CHARACTERS = 4;

/** Tokens of so many characters, about: for what no service has counted. */
export function estimatedTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS);
}
