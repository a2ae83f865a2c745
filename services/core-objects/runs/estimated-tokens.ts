/** Characters of a token, about. */
const CHARACTERS = 4;

/** About how many tokens a number of characters has, if no service has counted them. */
export function estimatedTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS);
}
