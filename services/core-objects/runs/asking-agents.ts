/** Of which agents writes to the outside wait for a word after text from outside was read. */
export const ASKING_AGENTS = ["company", "all", "none"] as const;
/** One of {@link ASKING_AGENTS}. */
export type AskingAgents = (typeof ASKING_AGENTS)[number];
