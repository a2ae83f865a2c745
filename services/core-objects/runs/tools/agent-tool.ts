import type { JsonObject } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import type { Call } from "../../../shared/rpc/call.js";

/** A tool that a run offers its model. */
export interface AgentTool {
  /** As models take names of functions: letters, digits, _ and -, at most 64. */
  readonly name: string;
  /** As the run's steps name it, such as cti/search_entities. */
  readonly label: string;
  readonly description: string;
  /** As lists of an agent's tools name it: cti/search_entities, custom/NAME or mcp/TOOL. */
  readonly known: string;
  /** What a call reaches, whatever other tools the run has. */
  readonly target: string;
  /** Whether what it answers was written outside: by a platform, a server, a service or in a document. */
  readonly readsOutside: boolean;
  /** Whether a call may change something outside, or send something there. */
  readonly writesOutside: boolean;
  /** JSON Schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Whether it can be called again where it is not known how a call went: never of what others serve. */
  readonly readOnly: boolean;
  /**
   * Calls it as the user as whom the run acts.
   *
   * @throws Error, of which the model is told; ConnectError in words for the caller.
   */
  call(args: JsonObject, call: Call): Promise<string>;
  /**
   * Says the error of a call, of our own tools alone; undefined if the model can do nothing.
   *
   * @param has whether the model is offered a tool of this label.
   */
  explain?(error: ConnectError, args: JsonObject, has: (label: string) => boolean): string | undefined;
}

/** Longest name of a function. */
const MAX_NAME = 64;

/** A name that models take, and that none of those before has. */
export function functionName(wanted: string, taken: ReadonlySet<string>): string {
  const plain = wanted.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_NAME);
  for (let n = 2, name = plain; ; n++) {
    if (!taken.has(name)) return name;
    name = `${plain.slice(0, MAX_NAME - 4)}_${n}`;
  }
}
