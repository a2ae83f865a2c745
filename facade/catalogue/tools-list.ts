import type { ListOptions } from "./endpoint-query.js";
import { instructionsOf } from "./instructions.js";
import type { ServedTool } from "./served-tool.js";

/** The tools that one caller sees through one URL. */
export interface View {
  /** By name. */
  readonly tools: ReadonlyMap<string, ServedTool>;
  /** The answer to tools/list in one era, for a request id. */
  list(era: "modern" | "legacy", id: string | number): Buffer;
  /** What a model should know before it uses these tools, as JSON text. */
  instructions(): string;
}

/** Bytes kept free behind a list for the id of a request. */
const ID_ROOM = 128;

/** How long a modern client may keep a list, in milliseconds. */
export const LIST_TTL_MS = 60_000;

/**
 * Prepares what one set of visible tools looks like under some options: the
 * list is built at the first request and sent from then on as it is.
 *
 * @param unlisted tools that may be called although the list leaves them out.
 * @param server its name.
 * @param serverInfo the server's name and version as JSON text.
 */
export function viewOf(
  server: string,
  listed: readonly ServedTool[],
  unlisted: readonly ServedTool[],
  options: ListOptions,
  serverInfo: string,
): View {
  const { outputSchemas, readOnly, toolsets } = options;
  const fits = ({ tool }: ServedTool): boolean =>
    (!readOnly || tool.readOnly) && (toolsets === undefined || toolsets.has(tool.toolset));
  const served = listed.filter(fits);
  let modern: SplicedText | undefined;
  let legacy: SplicedText | undefined;
  let instructions: string | undefined;
  const tools = (): string => `"tools":[${served.map((one) => (outputSchemas ? one.fullEntry : one.entry)).join(",")}]`;
  return {
    tools: new Map([...served, ...unlisted.filter(fits)].map((one) => [one.tool.name, one])),
    list(era, id) {
      if (era === "legacy") {
        legacy ??= new SplicedText(`{"jsonrpc":"2.0","result":{${tools()}},"id":`);
        return legacy.with(id);
      }
      modern ??= new SplicedText(
        `{"jsonrpc":"2.0","result":{"resultType":"complete",${tools()},"ttlMs":${LIST_TTL_MS},"cacheScope":"private",` +
          `"_meta":{"io.modelcontextprotocol/serverInfo":${serverInfo}}},"id":`,
      );
      return modern.with(id);
    },
    instructions() {
      instructions ??= JSON.stringify(
        instructionsOf(
          server,
          served.map(({ tool }) => tool),
        ),
      );
      return instructions;
    },
  };
}

/** A long text that is sent again and again, each time with another id behind it. */
class SplicedText {
  private readonly bytes: Buffer;
  private readonly length: number;

  constructor(text: string) {
    this.length = Buffer.byteLength(text);
    this.bytes = Buffer.allocUnsafeSlow(this.length + ID_ROOM);
    this.bytes.write(text);
  }

  /** The bytes with an id; good until the next call, so they are to be sent at once. */
  with(id: string | number): Buffer {
    const end = `${JSON.stringify(id)}}`;
    if (end.length * 3 > ID_ROOM) return Buffer.concat([this.bytes.subarray(0, this.length), Buffer.from(end)]);
    return this.bytes.subarray(0, this.length + this.bytes.write(end, this.length));
  }
}
