/** Of which agents writes to the outside wait for a word after text from outside was read. */
export type AskingAgents = "company" | "all" | "none";
