/** What people who wrote the tools say of how to use them. Platform servers have none: their tools are generated. */
export const GUIDANCE: Readonly<Record<string, string>> = {
  core: `## How to work with agents

1. \`list_agents\` shows the agents that the user may use. Start from one of these instead of a new one.
2. \`trigger_run\` starts a run of an assignment and returns its id. \`get_run\` and \`list_run_steps\` show what it does. A run
   takes minutes: tell the user its id instead of waiting.
3. \`search_knowledge\` answers from the user's documents, with the passages that it used. Quote their titles.
4. Secrets are write-only: no tool returns the value of one.
`,
};
