/** A sentence, for those who have all of its tools. */
interface Advice {
  readonly tools: readonly string[];
  readonly text: string;
}

/** What people who wrote the tools say of how to use them. Platform servers have none: their tools are generated. */
const GUIDANCE: Readonly<Record<string, readonly Advice[]>> = {
  core: [
    {
      tools: ["list_agents"],
      text: "`list_agents` shows the agents that the user may use. Prefer one of these to a new agent.",
    },
    {
      tools: ["trigger_run", "get_run"],
      text: "`trigger_run` gives an agent a task and returns the run. A run takes minutes: give the user its id, and read it later with `get_run`.",
    },
    {
      tools: ["trigger_assignment"],
      text: "`trigger_assignment` starts a saved task. Use it instead of `trigger_run` if an assignment for the task exists.",
    },
    {
      tools: ["search_knowledge"],
      text: "`search_knowledge` finds passages in the company's documents. Cite the document and its heading.",
    },
    {
      tools: ["list_variables"],
      text: "Secrets can only be written: no tool returns the value of one.",
    },
  ],
};

/** The guidance of a server that is of use to somebody with these tools. */
export function guidanceOf(server: string, tools: readonly { readonly name: string }[]): string[] {
  const names = new Set(tools.map(({ name }) => name));
  return (GUIDANCE[server] ?? []).filter((one) => one.tools.every((name) => names.has(name))).map(({ text }) => text);
}
