import type { Connecting } from "../../objects/connection.js";

/** An MCP server as it is stored. */
export interface McpServerRecord extends Connecting {
  readonly url: string;
  readonly transport: "streamable_http" | "sse";
  readonly headers: readonly SecretHeaderRecord[];
}

/** A header of its requests. */
export interface SecretHeaderRecord {
  readonly name: string;
  readonly sealed: string;
  /** How its value ends; "" where it is too short to say. */
  readonly ends_with: string;
}
