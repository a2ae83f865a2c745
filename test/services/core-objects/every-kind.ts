import type { DescService } from "@bufbuild/protobuf";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { PromptService } from "#proto/core/v1/prompt_service_pb.js";
import { SkillService } from "#proto/core/v1/skill_service_pb.js";
import { VariableService } from "#proto/core/v1/variable_service_pb.js";

/** A kind of object, for tests that ask the same of all. */
export interface KindUnderTest {
  readonly noun: string;
  readonly plural: string;
  readonly service: DescService;
  /** What a new one needs besides what all have, as tools are given it; the name is its own each time. */
  readonly needs: Readonly<Record<string, unknown>>;
  /** A name that the kind takes, from a word of small letters. */
  nameOf(word: string): string;
  /** Reads one: the tool, and the argument that holds the id. */
  readonly read: { readonly tool: string; readonly argument: string };
}

const kind = (
  noun: string,
  service: DescService,
  needs: KindUnderTest["needs"],
  more: Partial<Omit<KindUnderTest, "noun" | "service" | "needs">> = {},
): KindUnderTest => {
  const snake = noun.toLowerCase().replaceAll(" ", "_");
  const read = { tool: `get_${snake}`, argument: `${snake}_id` };
  return { noun, service, needs, plural: `${snake}s`, nameOf: (word) => word, read, ...more };
};

/** Every kind there is. */
export const EVERY_KIND: readonly KindUnderTest[] = [
  kind("agent", AgentService, {}),
  kind("prompt", PromptService, { template: "Look at this." }),
  kind("skill", SkillService, { instructions: "Look at this." }, { read: { tool: "load_skill", argument: "skill" } }),
  kind("variable", VariableService, { value: "a value to keep", secret: true }),
];
