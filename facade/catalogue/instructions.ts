import type { DescMessage } from "@bufbuild/protobuf";
import { type About, CORE, isPlatformServer, PLATFORMS, topicsOf } from "../../services/shared/platforms.js";
import { takesTenant } from "../../services/shared/tools/narrowing.js";
import type { Tool } from "../../services/shared/tools/tools.js";

// What a model should know before it uses a server. A client reads it once per
// session, so it is short. It is made of the tools that the caller sees through
// the URL, so that it names no tool that is absent. A client that keeps tools out
// of the context reads its first characters to decide where to search for one.

const ABOUT = new Map<string, About>([...PLATFORMS, CORE].map(({ name, about }) => [name, about]));

/** The longest instructions of a server, in characters. */
export const MAX_INSTRUCTIONS = 2_048;

/** Up to FEW deletions are named one by one, and up to MANY other destructive tools. */
const [FEW, MANY] = [4, 20];

/** The instructions of a server for a caller who sees these tools. @param isPinned the URL says which tenant. */
export function instructionsOf(server: string, tools: readonly Tool[], isPinned = false): string {
  const about = openingOf(server, tools);
  const rules = (tools.length === 0 ? [NOTHING] : RULES).flatMap((rule) => rule(server, tools, isPinned) ?? []);
  const spare = MAX_INSTRUCTIONS - [...about, ...rules].join(" ").length - 1;
  return [...about, ...toolsetsOf(tools, spare), ...rules].join(" ");
}

/** The product, when to search for tools here, and what the other servers are for. */
function openingOf(server: string, tools: readonly Tool[]): string[] {
  const about = ABOUT.get(server);
  if (about === undefined) return [];
  const topics = topicsOf(about, tools);
  const asked = topics.length === 0 ? about.subject : topics.join(", ");
  const others = [...ABOUT].filter(([name]) => name !== server).map(([name, { inShort }]) => `${name} (${inShort})`);
  return [
    `${about.product}: ${about.subject}.`,
    ...(tools.length === 0 ? [] : [`Search for tools here when the user asks about ${asked}.`]),
    `Other servers: ${others.join(", ")}.`,
    about.note,
  ];
}

/** A sentence, or undefined if none of the tools needs it. */
type Rule = (server: string, tools: readonly Tool[], isPinned: boolean) => string | undefined;

const NOTHING: Rule = (server) =>
  isPlatformServer(server)
    ? "No tools are available here now: the platform is not connected or does not answer, your account has no rights on it, or the URL excludes every tool."
    : "No tools are available here now: your account or the URL excludes every tool.";

const RULES: readonly Rule[] = [
  (_, tools) =>
    tools.some(takes("page_size"))
      ? "Lists are paged: set a small page_size and continue with next_page_token. Take ids from results, never from memory."
      : undefined,
  (_, tools) =>
    tools.some(takes("page_size")) && tools.some(({ name }) => name.startsWith("get_"))
      ? "List rows are short; a get_ tool shows one object in full by its id."
      : undefined,
  (_, tools, isPinned) => {
    if (!tools.some(takesTenant)) return undefined;
    return isPinned
      ? "All calls are for the tenant that the URL of this connection names."
      : "If the user has several tenants, pass tenant_id.";
  },
  (server, tools) =>
    isPlatformServer(server) && tools.some(({ readOnly }) => !readOnly)
      ? "Writes change the live platform immediately."
      : undefined,
  (_, tools) => {
    const grave = tools.filter(({ listing }) => listing.annotations.destructiveHint);
    if (grave.length === 0) return undefined;
    return `Ask the user to confirm before you call ${gravelyNamed(grave)}: the effect cannot be undone.`;
  },
  (server, tools) => {
    const outside = tools.filter(
      ({ listing }) => listing.annotations.openWorldHint && !listing.annotations.readOnlyHint,
    );
    if (outside.length === 0) return undefined;
    const affected = isPlatformServer(server) ? "affect real machines and people" : "reach external systems";
    return `These tools ${affected}: ${namesOf(outside)}.`;
  },
  (_, tools) =>
    tools.some(({ result }) => contains(result, "updated_at"))
      ? "Empty fields are omitted; so is updated_at when equal to created_at."
      : "Empty fields are omitted.",
  (_, tools) =>
    tools.some(({ result }) => result.fields.some(({ fieldKind }) => fieldKind === "list"))
      ? "A result with truncated: true was cut; its truncated_hint says how to get the rest."
      : undefined,
  (server) =>
    isPlatformServer(server)
      ? "A call can fail because the user lacks a right on the platform: say so instead of trying other tools."
      : undefined,
];

const takes =
  (argument: string) =>
  ({ method }: Tool): boolean =>
    method.input.fields.some(({ name }) => name === argument);

/** Whether a message or one inside it has a field of this name. */
function contains(message: DescMessage, name: string, seen = new Set<DescMessage>()): boolean {
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some((field) => field.name === name || (field.message && contains(field.message, name, seen)));
}

/** Many deletions are named together; so is every destructive tool if there are many others too. */
function gravelyNamed(tools: readonly Tool[]): string {
  const deletions = tools.filter(({ name }) => name.startsWith("delete_"));
  if (deletions.length <= FEW) return namesOf(tools);
  const others = tools.filter((tool) => !deletions.includes(tool));
  if (others.length > MANY) return "any tool marked destructive";
  return ["any delete_ tool", ...others.map(({ name }) => name)].join(", ");
}

const namesOf = (tools: readonly Tool[]): string => tools.map(({ name }) => name).join(", ");

/** The tools by toolset, in one sentence; only the toolsets, or nothing, if that is too long. */
function toolsetsOf(tools: readonly Tool[], room: number): string[] {
  const sets = new Map<string, Tool[]>();
  for (const tool of tools) sets.set(tool.toolset, [...(sets.get(tool.toolset) ?? []), tool]);
  const named = [...sets].map(([toolset, set]) => `${toolset} (${namesOf(set)})`);
  return [named, [...sets.keys()]]
    .map((list) => `Tools by toolset: ${list.join("; ")}.`)
    .filter((sentence) => sets.size > 0 && sentence.length <= room)
    .slice(0, 1);
}
