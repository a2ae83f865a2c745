import { readFrontMatter } from "../../front-matter.js";
import type { Shipped } from "../../record.js";
import type { AgentRecord } from "./record.js";

/** Reads an agent that ships with the product: a Markdown file. @throws Error that names file and line. */
export function readAgent(path: string): Shipped<AgentRecord> {
  const file = readFrontMatter(path);
  return {
    name: file.text("name"),
    description: file.text("description"),
    labels: file.texts("labels"),
    instructions: file.body,
    model: "",
    tools: file.texts("tools"),
    skills: file.texts("skills").map((skill) => `builtin.${skill}`),
    knowledge_bases: [],
    prompts: [],
    variables: [],
    custom_tools: [],
    mcp_servers: [],
    integrations: [],
  };
}
