import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Described } from "../support/tool-index.js";

/** The names and texts of an input schema, at any depth. */
export interface Texts {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Texts>>;
  readonly items?: Texts;
}

/** What one MCP server of somebody else says of its tools. */
export interface Recorded {
  /** Its npm package. */
  readonly package: string;
  readonly version: string;
  readonly tools: readonly { readonly name: string; readonly description: string; readonly inputSchema: Texts }[];
}

/** Written by record.ts. */
export const FILE = join(import.meta.dirname, "foreign.json");

/** Tools that people have next to ours; `server` is their package. */
export function foreignTools(): Described[] {
  const recorded = JSON.parse(readFileSync(FILE, "utf8")) as Recorded[];
  return recorded.flatMap(({ package: server, tools }) =>
    tools.map(({ name, description, inputSchema }) => ({
      server: server as Described["server"],
      name,
      listing: { description, inputSchema: { type: "object", ...inputSchema } as Described["listing"]["inputSchema"] },
    })),
  );
}
