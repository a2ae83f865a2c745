import type { DescMessage } from "@bufbuild/protobuf";
import { CORE, isPlatformServer, PLATFORMS } from "../../services/shared/platforms.js";
import { takesTenant } from "../../services/shared/tools/narrowing.js";
import type { Tool } from "../../services/shared/tools/tools.js";

// What a model should know before it uses a server: read once per session by
// every client, so short. It is made of the tools that the caller sees through
// the URL, so that it names nothing that is not there; the tools say the rest.

const ABOUT = new Map<string, string>([...PLATFORMS, CORE].map(({ name, instructions }) => [name, instructions]));

/** The most of a server's instructions, in characters. */
export const MAX_INSTRUCTIONS = 2_048;

/** So many tools are named one by one. */
const [FEW, MANY] = [4, 20];

/** The instructions of a server for a caller who sees these of its tools. @param isPinned the URL says which tenant. */
export function instructionsOf(server: string, tools: readonly Tool[], isPinned = false): string {
  const about = ABOUT.get(server) ?? "";
  const rules = (tools.length === 0 ? [NOTHING] : RULES).flatMap((rule) => rule(server, tools, isPinned) ?? []);
  const spare = MAX_INSTRUCTIONS - [about, ...rules].join(" ").length - 1;
  return [about, ...toolsetsOf(tools, spare), ...rules].filter((text) => text !== "").join(" ");
}

/** What may be said, and undefined where nothing there needs it. */
type Rule = (server: string, tools: readonly Tool[], isPinned: boolean) => string | undefined;

const NOTHING: Rule = (server) =>
  isPlatformServer(server)
    ? "No tool is open to you here now: the platform is not connected or does not answer, your account may do nothing on it, or the URL asks for none."
    : "No tool is open to you here now: your account or the URL leaves none.";

const RULES: readonly Rule[] = [
  (_, tools) =>
    tools.some(takes("page_size"))
      ? "Lists are paged: ask for few with page_size and go on with next_page_token. Ids come from results, never from memory."
      : undefined,
  (_, tools) =>
    tools.some(takes("page_size")) && tools.some(({ name }) => name.startsWith("get_"))
      ? "Rows are short; a get_ tool reads one object in full by its id."
      : undefined,
  (_, tools, isPinned) => {
    if (!tools.some(takesTenant)) return undefined;
    return isPinned
      ? "The URL of this connection says which tenant all calls are for."
      : "Where the user has several tenants, pass tenant_id.";
  },
  (server, tools) =>
    isPlatformServer(server) && tools.some(({ readOnly }) => !readOnly)
      ? "Writes act on the live platform at once."
      : undefined,
  (_, tools) => {
    const grave = tools.filter(({ listing }) => listing.annotations.destructiveHint);
    if (grave.length === 0) return undefined;
    return `Confirm with the user before ${gravelyNamed(grave)}: that cannot be undone.`;
  },
  (_, tools) => {
    const outside = tools.filter(
      ({ listing }) => listing.annotations.openWorldHint && !listing.annotations.readOnlyHint,
    );
    if (outside.length === 0) return undefined;
    return `On the world outside, on real machines and people, act ${namesOf(outside)}.`;
  },
  (_, tools) =>
    tools.some(({ result }) => tells(result, "updated_at"))
      ? "What is empty is left out of results, and so is updated_at where it is created_at."
      : "What is empty is left out of results.",
  (_, tools) =>
    tools.some(({ result }) => result.fields.some(({ fieldKind }) => fieldKind === "list"))
      ? "A result with truncated: true was cut; its truncated_hint says how to get the rest."
      : undefined,
  (server) =>
    isPlatformServer(server)
      ? "A call can fail because of your user's own permissions on the platform; say so rather than trying other tools."
      : undefined,
];

const takes =
  (argument: string) =>
  ({ method }: Tool): boolean =>
    method.input.fields.some(({ name }) => name === argument);

/** Whether a message or one inside it has a field of this name. */
function tells(message: DescMessage, name: string, seen = new Set<DescMessage>()): boolean {
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some((field) => field.name === name || (field.message && tells(field.message, name, seen)));
}

/** Deletions are one thing where there are many, and so is all that is marked where even the rest are. */
function gravelyNamed(tools: readonly Tool[]): string {
  const deletions = tools.filter(({ name }) => name.startsWith("delete_"));
  if (deletions.length <= FEW) return namesOf(tools);
  const others = tools.filter((tool) => !deletions.includes(tool));
  if (others.length > MANY) return "every tool that is marked destructive";
  return ["every delete_ tool", ...others.map(({ name }) => name)].join(", ");
}

const namesOf = (tools: readonly Tool[]): string => tools.map(({ name }) => name).join(", ");

/** The tools by toolset, in one sentence; toolsets alone, or nothing, where there is no room. */
function toolsetsOf(tools: readonly Tool[], room: number): string[] {
  const sets = new Map<string, Tool[]>();
  for (const tool of tools) sets.set(tool.toolset, [...(sets.get(tool.toolset) ?? []), tool]);
  const named = [...sets].map(([toolset, set]) => `${toolset} (${namesOf(set)})`);
  return [named, [...sets.keys()]]
    .map((said) => `Tools by toolset: ${said.join("; ")}.`)
    .filter((said) => sets.size > 0 && said.length <= room)
    .slice(0, 1);
}
