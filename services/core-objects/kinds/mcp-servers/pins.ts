import { shorten } from "../../../shared/tools/shorten.js";
import { fingerprintOf } from "../../fingerprint.js";
import type { ListedTool } from "../../runs/apart/mcp.js";

// The tools of a remote MCP server are what somebody chose: the server can change what a tool says of itself, and
// add tools, and runs are offered neither until a person who may change the server has accepted them.

/** Tools of one server that are kept, and the longest name of one. */
export const MAX_PINS = 128;
const MAX_NAME = 128;
const MAX_DESCRIPTION = 500;

/** A tool as it was chosen. */
export interface ToolPin {
  readonly name: string;
  readonly fingerprint: string;
}

/** A tool that waits for its owner. */
export interface WaitingTool extends ToolPin {
  readonly description: string;
  /** A tool of this name was chosen, and is another one now. */
  readonly changed: boolean;
}

/** A listed tool as it is pinned; undefined for one that is too long or too deep to be used. */
export function pinOf({ name, description, inputSchema, readOnly, destructive }: ListedTool): ToolPin | undefined {
  if (name.length > MAX_NAME) return undefined;
  const fingerprint = fingerprintOf({ name, description, inputSchema, readOnly, destructive });
  return fingerprint === undefined ? undefined : { name, fingerprint };
}

/** What is pinned of a list when all of it is chosen. */
export function pinsOf(listed: readonly ListedTool[]): ToolPin[] {
  const pins = new Map<string, ToolPin>();
  for (const tool of listed.slice(0, MAX_PINS)) {
    const pin = pinOf(tool);
    if (pin !== undefined && !pins.has(pin.name)) pins.set(pin.name, pin);
  }
  return [...pins.values()];
}

/** The listed tools that are as they were chosen, each name once. */
export function chosenOf<Tool extends ListedTool>(listed: readonly Tool[], pins: readonly ToolPin[]): Tool[] {
  const chosen = new Map(pins.map(({ name, fingerprint }) => [name, fingerprint]));
  const seen = new Set<string>();
  return listed.slice(0, MAX_PINS).filter((tool) => {
    if (seen.has(tool.name) || !chosen.has(tool.name)) return false;
    if (pinOf(tool)?.fingerprint !== chosen.get(tool.name)) return false;
    seen.add(tool.name);
    return true;
  });
}

/** The listed tools that nobody has chosen as they are. */
export function waitingOf(listed: readonly ListedTool[], pins: readonly ToolPin[]): WaitingTool[] {
  const chosen = new Map(pins.map(({ name, fingerprint }) => [name, fingerprint]));
  const waiting = new Map<string, WaitingTool>();
  for (const tool of listed.slice(0, MAX_PINS)) {
    const pin = pinOf(tool);
    if (pin === undefined || waiting.has(pin.name) || chosen.get(pin.name) === pin.fingerprint) continue;
    const description = shorten(tool.description, MAX_DESCRIPTION);
    waiting.set(pin.name, { ...pin, description, changed: chosen.has(pin.name) });
  }
  return [...waiting.values()];
}

/**
 * What waits after somebody listed the tools who does not choose them: a tool that waits already stays as the owner was
 * shown it, so that nobody accepts what they have not seen.
 */
export function waitingAfter(shown: readonly WaitingTool[], listed: readonly WaitingTool[]): WaitingTool[] {
  const before = new Map(shown.map((tool) => [tool.name, tool]));
  return listed.map((tool) => before.get(tool.name) ?? tool);
}

/**
 * The pins after some of the waiting tools were accepted, each as it was shown when it waited.
 *
 * @param names those that are accepted.
 */
export function pinsAfter(
  pins: readonly ToolPin[],
  waiting: readonly WaitingTool[],
  names: readonly string[],
): ToolPin[] {
  const after = new Map(pins.map((pin) => [pin.name, pin]));
  for (const { name, fingerprint } of waiting) if (names.includes(name)) after.set(name, { name, fingerprint });
  return [...after.values()];
}
