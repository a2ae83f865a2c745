import { PackageFormat } from "#api/catalogue/v1/package_service_pb";

/** The formats of packages. */
export const FORMATS = [
  { format: PackageFormat.CLAUDE_CODE, name: "Claude Code", client: "Claude Code", says: "A plugin, as a zip." },
  {
    format: PackageFormat.MCPB,
    name: "Claude Desktop",
    client: "Claude Desktop",
    says: "A desktop extension, .mcpb: open it with the application.",
  },
  {
    format: PackageFormat.AGENT_PLUGIN,
    name: "Agent plugin",
    client: undefined,
    says: "For Copilot CLI, Codex, VS Code and Cursor. This format never carries a key.",
  },
] as const;

/** One of them; without a client it carries no key. */
export type Format = (typeof FORMATS)[number];
