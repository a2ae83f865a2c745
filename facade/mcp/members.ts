import { isObject } from "./json-rpc.js";

// Some JSON parsers, those of Go among them, do not look at the case of a member's name:
// for them "Method" is the method, and of "name" and "Name" the last one counts.

const OF_MESSAGES = ["jsonrpc", "id", "method", "params", "result", "error"];
const OF_PARAMS = [
  "name",
  "arguments",
  "_meta",
  "cursor",
  "protocolVersion",
  "capabilities",
  "clientInfo",
  "notifications",
  "requestId",
];

/** Known names, and the same without their case. */
interface Names {
  readonly known: ReadonlySet<string>;
  readonly folded: ReadonlySet<string>;
}

function namesOf(known: readonly string[]): Names {
  return { known: new Set(known), folded: new Set(known.map((name) => name.toLowerCase())) };
}

const MESSAGE = namesOf(OF_MESSAGES);
const PARAMS = namesOf(OF_PARAMS);

/**
 * What is wrong with a message, or with one of a batch, that has a known member in another
 * case; undefined where none has. Hot path.
 */
export function otherCaseIn(message: unknown): string | undefined {
  if (Array.isArray(message)) {
    for (const one of message) {
      const found = inOne(one);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return inOne(message);
}

function inOne(message: unknown): string | undefined {
  if (!isObject(message)) return undefined;
  return otherCase(message, MESSAGE) ?? (isObject(message.params) ? otherCase(message.params, PARAMS) : undefined);
}

function otherCase(object: Record<string, unknown>, { known, folded }: Names): string | undefined {
  for (const name in object) {
    if (known.has(name) || !folded.has(name.toLowerCase())) continue;
    return `its member ${name} differs from a known member only in letter case`;
  }
  return undefined;
}
