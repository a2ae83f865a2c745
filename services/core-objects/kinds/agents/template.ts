import type { Writer } from "../../objects/writer.js";
import { type ModelFields, modelFieldsOf } from "./model-fields.js";
import type { AgentRecord } from "./record.js";
import { NO_RESOURCES, REFERENCES, type Resources } from "./resources.js";

/** What a new agent begins with. */
export type Template = Pick<AgentRecord, "instructions" | "model" | "tools" | "ask_tools"> & Resources & ModelFields;

/** What an agent without a template begins with. */
export const NOTHING: Template = {
  instructions: "",
  model: "",
  tools: [],
  ask_tools: [],
  ...NO_RESOURCES,
  parameters: {},
  fallback_model: "",
  fallback_integration: "",
};

/**
 * What a new agent takes from another: all but what is that one's own, such as
 * its name, and what the writer cannot see.
 *
 * @param id of the agent to copy; "" for none.
 * @throws ConnectError not_found.
 */
export async function templateOf(id: string, writer: Writer): Promise<Template> {
  if (id === "") return NOTHING;
  const agent = (await writer.another(id)) as AgentRecord;
  const { instructions, model, tools, ask_tools = [] } = agent;
  const fields = Object.keys(REFERENCES) as (keyof Resources)[];
  const { fallback_integration: fallback = "" } = agent;
  const seen = await writer.seen([...fields.flatMap((field) => agent[field]), ...(fallback === "" ? [] : [fallback])]);
  const resources = fields.map((field) => {
    const ids = seen.get(REFERENCES[field]) ?? [];
    return [field, agent[field].filter((one) => ids.includes(one))];
  });
  const ofModel = modelFieldsOf(agent, (one) => seen.get("integration")?.includes(one) ?? false);
  return {
    instructions,
    model,
    tools,
    ask_tools,
    ...(Object.fromEntries(resources) as unknown as Resources),
    ...ofModel,
  };
}
