import { TENANT_ARGUMENT } from "./tenant.js";
import type { Tool } from "./tools.js";

/** How the URL of a connection narrows the tools of its server. */
export interface Narrowing {
  /** ?readonly=1: only tools without side effects. */
  readonly readOnly: boolean;
  /** ?toolsets=a,b: only tools of these toolsets; undefined for all. */
  readonly toolsets: ReadonlySet<string> | undefined;
  /** ?exclude=a,b: no tool of these names or toolsets. */
  readonly excluded: ReadonlySet<string>;
  /** ?tenant=ID: every call is for this tenant; undefined if callers choose. In lower case. */
  readonly tenant: string | undefined;
}

/** A URL that narrows nothing. */
export const WHOLE: Narrowing = { readOnly: false, toolsets: undefined, excluded: new Set(), tenant: undefined };

/** The query that narrows a URL so, with its question mark; "" for none. */
export function queryOf({ readOnly, toolsets, excluded, tenant }: Narrowing): string {
  const parts = [
    toolsets !== undefined && `toolsets=${[...toolsets].join(",")}`,
    excluded.size > 0 && `exclude=${[...excluded].join(",")}`,
    readOnly && "readonly=1",
    tenant !== undefined && `tenant=${tenant}`,
  ].filter((part) => typeof part === "string");
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

/** A parameter of the URL that leaves a tool out. */
export type Narrower = "readonly" | "toolsets" | "exclude";

/** The first parameter that leaves a tool out; undefined if none does. */
export function leftOutBy(tool: Tool, { readOnly, toolsets, excluded }: Narrowing): Narrower | undefined {
  if (readOnly && !tool.readOnly) return "readonly";
  if (toolsets !== undefined && !tool.toolsets.some((one) => toolsets.has(one))) return "toolsets";
  if (excluded.has(tool.name) || tool.toolsets.some((one) => excluded.has(one))) return "exclude";
  return undefined;
}

/** Whether calls of a tool are for one tenant. */
export function takesTenant({ method }: Tool): boolean {
  return method.input.fields.some(({ name }) => name === TENANT_ARGUMENT);
}

/** The form of a tenant's id on every platform: a UUID (RFC 9562, section 4). */
export const TENANT_FORM = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The toolsets of tools, each once, in file order; BASIC comes last. */
export function toolsetsOf(tools: readonly Tool[]): string[] {
  return [...new Set([...tools.map(({ toolset }) => toolset), ...tools.flatMap(({ toolsets }) => toolsets)])];
}
