import type { Connecting } from "../../objects/connection.js";

import type { ToolPin, WaitingTool } from "./pins.js";

/** An MCP server as it is stored. */
export interface McpServerRecord extends Connecting {
  readonly url: string;
  readonly transport: "streamable_http" | "sse";
  readonly headers: readonly SecretHeaderRecord[];
  /** Its tools as they were chosen; null, or absent of an older one, until the first list of this URL was read. */
  readonly tools?: readonly ToolPin[] | null;
  /** Its tools that wait for its owner, as they were last listed. */
  readonly waiting?: readonly WaitingTool[];
}

/** A header of its requests. */
export interface SecretHeaderRecord {
  readonly name: string;
  /** "" where the server was handed over without its value. */
  readonly sealed: string;
  /** How its value ends; "" where it is too short to say. */
  readonly ends_with: string;
}
