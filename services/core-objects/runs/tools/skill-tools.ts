import type { JsonObject } from "@bufbuild/protobuf";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import type { AgentTool } from "./agent-tool.js";
import type { OwnTools } from "./own-tools.js";

/** Something that an agent was given and may look into. */
export interface Attached {
  readonly _id: string;
  readonly name: string;
}

/** What an agent was given of the kinds that tools of core look into. */
export interface Attachments {
  readonly skills: readonly Attached[];
  readonly prompts: readonly Attached[];
  /** Ids. */
  readonly knowledgeBases: readonly string[];
}

/**
 * Tools of core that look into what the agent was given, and into nothing else,
 * with the rights of whoever the run acts as.
 */
export function skillTools(own: OwnTools, { skills, prompts, knowledgeBases }: Attachments): AgentTool[] {
  const within = (name: string, argument: string, those: readonly Attached[]): AgentTool[] => {
    const tool = those.length === 0 ? undefined : own.ofCore(name);
    return tool === undefined
      ? []
      : [{ ...tool, name, call: (args, call) => tool.call(chosen(args, argument, those), call) }];
  };
  return [
    ...within("load_skill", "skill", skills),
    ...within("read_skill_resource", "skill", skills),
    ...within("render_prompt", "prompt", prompts),
    ...searchIn(own, knowledgeBases),
  ];
}

/** The arguments with the id of the one that is named, which has to be among those. */
function chosen(args: JsonObject, argument: string, those: readonly Attached[]): JsonObject {
  const wanted = args[argument];
  const found = those.find(({ _id, name }) => _id === wanted || name === wanted);
  if (found === undefined)
    throw invalidArgument(`${argument} has to be one of ${those.map(({ name }) => name).join(", ")}`);
  return { ...args, [argument]: found._id };
}

const BASES = "knowledge_base_ids";

function searchIn(own: OwnTools, ids: readonly string[]): AgentTool[] {
  const tool = ids.length === 0 ? undefined : own.ofCore("search_knowledge");
  if (tool === undefined) return [];
  return [
    {
      ...tool,
      name: "search_knowledge",
      call(args, call) {
        const wanted = Array.isArray(args[BASES]) ? args[BASES].filter((id) => ids.includes(String(id))) : [];
        return tool.call({ ...args, [BASES]: wanted.length > 0 ? wanted : [...ids] }, call);
      },
    },
  ];
}
