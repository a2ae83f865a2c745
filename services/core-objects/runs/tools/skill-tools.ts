import type { JsonObject } from "@bufbuild/protobuf";
import { invalidArgument, notFound } from "../../../shared/rpc/errors.js";
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
  /** The tools that the run was offered before: each stays, and says so when nothing is left of what it looks into. */
  readonly offered: ReadonlySet<string>;
}

/**
 * Tools of core that look into what the agent was given, and into nothing else,
 * with the rights of the user as whom the run acts.
 */
export function skillTools(own: OwnTools, { skills, prompts, knowledgeBases, offered }: Attachments): AgentTool[] {
  const within = (name: string, argument: string, those: readonly Attached[]): AgentTool[] => {
    const tool = those.length > 0 || offered.has(name) ? own.ofCore(name) : undefined;
    return tool === undefined
      ? []
      : [{ ...tool, name, call: (args, call) => tool.call(chosen(args, argument, those), call) }];
  };
  return [
    ...within("load_skill", "skill", skills),
    ...within("read_skill_resource", "skill", skills),
    ...within("render_prompt", "prompt", prompts),
    ...(knowledgeBases.length > 0 || offered.has(SEARCH) ? searchIn(own, knowledgeBases) : []),
  ];
}

/** The arguments with the id of the one that is named, which has to be among those. */
function chosen(args: JsonObject, argument: string, those: readonly Attached[]): JsonObject {
  if (those.length === 0) throw notFound(`this run has no ${argument} any more that you can see`);
  const wanted = args[argument];
  const found = those.find(({ _id, name }) => _id === wanted || name === wanted);
  if (found === undefined)
    throw invalidArgument(`${argument} must be one of ${those.map(({ name }) => name).join(", ")}`);
  return { ...args, [argument]: found._id };
}

const SEARCH = "search_knowledge";
const BASES = "knowledge_base_ids";

function searchIn(own: OwnTools, ids: readonly string[]): AgentTool[] {
  const tool = own.ofCore(SEARCH);
  if (tool === undefined) return [];
  return [
    {
      ...tool,
      name: SEARCH,
      call(args, call) {
        if (ids.length === 0) throw notFound("this run has no knowledge base any more that you can see");
        const wanted = Array.isArray(args[BASES]) ? args[BASES].filter((id) => ids.includes(String(id))) : [];
        return tool.call({ ...args, [BASES]: wanted.length > 0 ? wanted : [...ids] }, call);
      },
    },
  ];
}
