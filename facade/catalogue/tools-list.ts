import type { ConnectError } from "@connectrpc/connect";
import type { EntriesOf } from "../../services/shared/tools/entries.js";
import type { ExplainCall, FailedCall } from "../../services/shared/tools/explain-call.js";
import { leftOutBy } from "../../services/shared/tools/narrowing.js";
import type { ListOptions } from "./endpoint-query.js";
import { instructionsOf } from "./instructions.js";
import { PreparedText } from "./prepared-text.js";
import type { ServedTool } from "./served-tool.js";

/** The tools that one caller sees through one URL. */
export interface View {
  /** By name. */
  readonly tools: ReadonlyMap<string, ServedTool>;
  /** The names of the caller's tenants, by id, if there are several. */
  readonly tenants: ReadonlyMap<string, string>;
  /** The answer to tools/list in one era. */
  list(era: "modern" | "legacy"): PreparedText;
  /** What a model should know before it uses these tools, as JSON text. */
  instructions(): string;
  /** Says the error of a call, with tools that the list holds; undefined if the model can do nothing. */
  explain(error: ConnectError, call: FailedCall): string | undefined;
}

/** How long a modern client may keep a list, in milliseconds. */
export const LIST_TTL_MS = 60_000;

/** What the views of one MCP server are made of. */
export interface ServerTools {
  readonly name: string;
  /** In file order. */
  readonly tools: readonly ServedTool[];
  readonly entriesOf: EntriesOf;
  readonly explainCall: ExplainCall;
  /** Its name and version as JSON text. */
  readonly serverInfo: string;
}

/**
 * Prepares what one set of visible tools looks like under some options: the
 * list is built at the first request and sent from then on as it is.
 *
 * @param unlisted tools that may be called although the list leaves them out.
 */
export function viewOf(
  { name: server, entriesOf, explainCall, serverInfo }: ServerTools,
  listed: readonly ServedTool[],
  unlisted: readonly ServedTool[],
  options: ListOptions,
): View {
  const isPinned = options.tenant !== undefined;
  const fits = ({ tool }: ServedTool): boolean => leftOutBy(tool, options) === undefined;
  const served = listed.filter(fits);
  const tools = served.map(({ tool }) => tool);
  let modern: PreparedText | undefined;
  let legacy: PreparedText | undefined;
  let instructions: string | undefined;
  const leftOut = listed.filter((one) => !fits(one)).map(({ tool }) => tool);
  const entries = (): string =>
    `"tools":[${entriesOf({ tools, leftOut, outputSchemas: options.outputSchemas, isPinned }).join(",")}]`;
  return {
    tenants: NONE,
    tools: new Map([...served, ...unlisted.filter(fits)].map((one) => [one.tool.name, one])),
    list(era) {
      if (era === "legacy") {
        legacy ??= new PreparedText(`{"jsonrpc":"2.0","result":{${entries()}},"id":`);
        return legacy;
      }
      modern ??= new PreparedText(
        `{"jsonrpc":"2.0","result":{"resultType":"complete",${entries()},"ttlMs":${LIST_TTL_MS},"cacheScope":"private",` +
          `"_meta":{"io.modelcontextprotocol/serverInfo":${serverInfo}}},"id":`,
      );
      return modern;
    },
    instructions() {
      instructions ??= JSON.stringify(instructionsOf(server, tools, isPinned));
      return instructions;
    },
    explain: (error, call) =>
      explainCall(error, call, {
        has: (name) => tools.some((one) => one.name === name),
        toolsetLeftOut: (name) => leftOut.find((one) => one.name === name)?.toolset,
      }),
  };
}

const NONE: ReadonlyMap<string, string> = new Map();
