import type { Tool } from "../../services/shared/tools/tools.js";

/** What can be done to a resource: the tools that do it, or the reason why none does. */
export type Cell = readonly string[] | string;

/** A kind of object that a server's tools are about. */
export interface Resource {
  readonly name: string;
  readonly list: Cell;
  readonly read: Cell;
  readonly create: Cell;
  readonly update: Cell;
  readonly delete: Cell;
  /** Tools that do something else with it. */
  readonly besides?: readonly string[];
}

/** The methods of the table, in its order. */
export const METHODS = ["list", "read", "create", "update", "delete"] as const;

/** What is wrong in a server's table; nothing where every tool has its place and every cell says something. */
export function problemsOf(resources: readonly Resource[], tools: readonly Tool[]): string[] {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const placed = new Set<string>();
  const problems: string[] = [];
  for (const resource of resources) {
    for (const method of METHODS) {
      const cell = resource[method];
      const where = `${resource.name}, ${method}`;
      if (typeof cell === "string") {
        if (cell.split(" ").length < 3) problems.push(`${where}: "${cell}" is no reason`);
        continue;
      }
      if (cell.length === 0) problems.push(`${where}: neither a tool nor a reason`);
      for (const name of cell) {
        placed.add(name);
        const tool = byName.get(name);
        if (tool === undefined) problems.push(`${where}: there is no tool ${name}`);
        else if (tool.readOnly !== (method === "list" || method === "read")) {
          problems.push(`${where}: ${name} ${tool.readOnly ? "only reads" : "writes"}`);
        } else if (method === "delete" && !tool.listing.annotations.destructiveHint) {
          problems.push(`${where}: ${name} is not marked destructive`);
        }
      }
    }
    for (const name of resource.besides ?? []) {
      placed.add(name);
      if (!byName.has(name)) problems.push(`${resource.name}, besides: there is no tool ${name}`);
    }
  }
  for (const tool of tools) if (!placed.has(tool.name)) problems.push(`${tool.name} is in no row`);
  return problems;
}

/** A server's table in Markdown. */
export function tableOf(resources: readonly Resource[]): string[] {
  const names = (tools: readonly string[]): string => tools.map((tool) => `\`${tool}\``).join(", ");
  const shown = (cell: Cell): string => (typeof cell === "string" ? cell : names(cell));
  return [
    `| Resource | ${METHODS.join(" | ")} | besides |`,
    `| --- |${" --- |".repeat(METHODS.length + 1)}`,
    ...resources.map(
      (resource) =>
        `| ${resource.name} | ${METHODS.map((method) => shown(resource[method])).join(" | ")} | ${names(resource.besides ?? [])} |`,
    ),
  ];
}
