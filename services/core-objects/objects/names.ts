/** Words as a member of a message has them: "knowledge base" is knowledgeBase. */
export type Camel<Words extends string> = Words extends `${infer First} ${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<Camel<Rest>>}`
  : Lowercase<Words>;

/** Words as a member of a message has them: "knowledge base" is knowledgeBase. */
export function camelOf(words: string): string {
  return words.toLowerCase().replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Words as a tool and a collection are named: "knowledge base" is knowledge_base. */
export function snakeOf(words: string): string {
  return words.toLowerCase().replaceAll(" ", "_");
}

/** Words as a folder is named: "knowledge base" is knowledge-base. */
export function kebabOf(words: string): string {
  return words.toLowerCase().replaceAll(" ", "-");
}
