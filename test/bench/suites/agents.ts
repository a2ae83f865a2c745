import { modern } from "../../facade/support/client.js";
import { once, requestBytes } from "../load.js";
import type { Program } from "../servers/program.js";
import { messageOf } from "./capture.js";

/** Characters of an agent's instructions: a change of it is then about 1.1 KB. */
const INSTRUCTIONS = "Triage each new alert: read it, find what it touches, and say what to do next. ".repeat(10);
/** Rows of a list that is about 2 KB. */
const ROWS = 2;

/** The read that is measured. */
export const LIST_AGENTS = { name: "list_agents", arguments: { page_size: ROWS } };

/** The change that is measured. */
export const updateAgent = (id: string) => ({
  name: "update_agent",
  arguments: { agent_id: id, instructions: INSTRUCTIONS, description: "Sorts alerts.", enabled: true },
});

/** Creates agents, one for each connection: calls that change one object would wait for each other. Resolves to their ids. */
export async function createAgents({ port, key }: Program, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const given = { name: `Agent ${i}`, description: "Sorts alerts.", instructions: INSTRUCTIONS };
    const { body, headers } = modern("tools/call", { name: "create_agent", arguments: given });
    const request = requestBytes("/mcp/core", { ...headers, authorization: `Bearer ${key}` }, JSON.stringify(body));
    const answer = await once(port, request);
    const { agent } = (messageOf(answer).result?.structuredContent ?? {}) as { agent?: { id: string } };
    if (agent === undefined) throw new Error(`no agent was created: ${answer.body.toString().slice(0, 300)}`);
    ids.push(agent.id);
  }
  return ids;
}
