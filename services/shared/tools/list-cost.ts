import { prepareEntries } from "./entries.js";
import { leftOutBy, type Narrowing } from "./narrowing.js";
import type { Tool } from "./tools.js";

/** What a list costs a model with every turn. */
export interface ListCost {
  readonly tools: number;
  /** Bytes of the list as the server sends it. */
  readonly bytes: number;
  readonly tokens: number;
  /** Of a client that sends names: bytes of the names and of the tools that it keeps in the context. */
  readonly namesBytes: number;
  readonly namesTokens: number;
}

/** Bytes of JSON for one token, about. */
const BYTES_PER_TOKEN = 4;

/**
 * What the list of a server costs, as a URL narrows it.
 *
 * @param own all tools of the server.
 * @param visible those that the caller may see.
 */
export function listCost(own: readonly Tool[], visible: readonly Tool[], narrowing: Narrowing): ListCost {
  const tools = visible.filter((tool) => leftOutBy(tool, narrowing) === undefined);
  const leftOut = own.filter((tool) => !tools.includes(tool));
  const isPinned = narrowing.tenant !== undefined;
  const entries = prepareEntries(own)({ tools, leftOut, outputSchemas: false, isPinned });
  const kept = entries.filter((_, at) => tools[at]?.listing._meta !== undefined);
  const bytes = Buffer.byteLength(`{"tools":[${entries.join(",")}]}`);
  const namesBytes = Buffer.byteLength([...tools.map(({ name }) => name), ...kept].join("\n"));
  return { tools: tools.length, bytes, tokens: tokensOf(bytes), namesBytes, namesTokens: tokensOf(namesBytes) };
}

const tokensOf = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);
