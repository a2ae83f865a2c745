import type { MessageShape } from "@bufbuild/protobuf";
import type { PromptArgumentSchema } from "#proto/core/v1/prompt_service_pb.js";
import { invalidArgument, notFound } from "../../../shared/rpc/errors.js";
import { quoted } from "../../../shared/rpc/quoted.js";
import type { Writer } from "../../objects/writer.js";
import type { PromptArgumentRecord, PromptRecord, PromptVersionRecord } from "./record.js";
import { checkTemplate } from "./template.js";

type Argument = MessageShape<typeof PromptArgumentSchema>;

/** Versions that are kept besides the latest. */
const VERSIONS = 20;
const MAX_ARGUMENTS = 20;

/**
 * The first version of a prompt.
 *
 * @throws ConnectError invalid_argument where template and arguments do not name each other.
 */
export function firstVersion(template: string, args: readonly Argument[], { userId }: Writer): PromptVersionRecord {
  return {
    version: 1,
    template,
    arguments: argumentsAfter(template, [], args),
    versioned_at: new Date(),
    author: userId,
  };
}

/**
 * The next version of a prompt with the ones before; nothing where neither its
 * template nor its arguments become others.
 *
 * @throws ConnectError invalid_argument as {@link firstVersion} does, and for an argument to remove that there is not.
 */
export function versionAfter(
  current: PromptRecord,
  change: {
    readonly template?: string | undefined;
    readonly put: readonly Argument[];
    readonly remove: readonly string[];
  },
  { userId }: Writer,
): Partial<PromptRecord> {
  const template = change.template ?? current.template;
  const args = argumentsAfter(template, current.arguments, change.put, change.remove);
  const { version, versioned_at, author } = current;
  const before = { version, template: current.template, arguments: current.arguments, versioned_at, author };
  if (template === before.template && JSON.stringify(args) === JSON.stringify(before.arguments)) return {};
  return {
    version: version + 1,
    template,
    arguments: args,
    versioned_at: new Date(),
    author: userId,
    history: [before, ...current.history].slice(0, VERSIONS),
  };
}

/** The latest version, or the one that is asked for. @throws ConnectError not_found that says which there are. */
export function versionOf(prompt: PromptRecord, version?: number): PromptVersionRecord {
  const all = versionsOf(prompt);
  const found = version === undefined ? prompt : all.find((one) => one.version === version);
  if (found === undefined)
    throw notFound(
      `the prompt ${prompt.name} has no version ${version}: it has versions ${all.at(-1)!.version} to ${prompt.version}`,
    );
  return found;
}

/** The versions that can be read, the latest first. */
export function versionsOf(prompt: PromptRecord): readonly PromptVersionRecord[] {
  return [prompt, ...prompt.history];
}

function argumentsAfter(
  template: string,
  current: readonly PromptArgumentRecord[],
  put: readonly Argument[],
  remove: readonly string[] = [],
): PromptArgumentRecord[] {
  const args = new Map(current.map((argument) => [argument.name, argument]));
  for (const name of remove) {
    if (!args.delete(name)) throw invalidArgument(`the prompt has no argument ${quoted(name)} to remove`);
  }
  for (const { name, description, required } of put) args.set(name, { name, description, required });
  if (args.size > MAX_ARGUMENTS) throw invalidArgument(`a prompt can have at most ${MAX_ARGUMENTS} arguments`);
  const all = [...args.values()];
  checkTemplate(template, all);
  return all;
}
