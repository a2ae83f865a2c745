import { type Contents, type Files, LICENSE, nameOf, type PackageTool, titleOf } from "./contents.js";

/**
 * A skill (agentskills.io): when to use the server, and what its tools do, as
 * far as the person who gets the package reaches them.
 *
 * @returns its files, by path below the folder that holds skills.
 */
export function skillOf(contents: Contents, version: string): Files {
  const name = nameOf(contents);
  return {
    [`${name}/SKILL.md`]: skillPage(contents, version),
    [`${name}/references/TOOLS.md`]: toolPage(contents),
  };
}

function skillPage(contents: Contents, version: string): string {
  const { server, subject, tools, guidance } = contents;
  // A JSON text is a YAML text (YAML 1.2 section 1.3): nothing in it ends the value.
  const front = {
    name: nameOf(contents),
    description: `Use the ${server} tools of Sallyport for ${subject}. Use them if the user asks about ${subject} that their company keeps on its platform.`,
    license: LICENSE,
    compatibility: "Needs network access to the company's Sallyport and an API key or a sign-in there.",
  };
  const lines = Object.entries(front).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `---
${lines.join("\n")}
metadata:
  version: ${JSON.stringify(version)}
---

# ${titleOf(contents)}

The MCP server \`${server}\` calls the platform as the user: its tools return only what the user may see there.
If a tool is missing, the user lacks the right, or the URL of the server leaves the tool out.

| Toolset | Tools |
| --- | --- |
${toolsetsOf(tools)
  .map(([toolset, own]) => `| ${toolset} | ${own.map((tool) => `\`${tool.name}\``).join(", ")} |`)
  .join("\n")}

[What each tool does](references/TOOLS.md). Ids in an answer are those that other tools take.
${guidance === "" ? "" : `\n${guidance.trim()}\n`}`;
}

function toolPage(contents: Contents): string {
  const sections = toolsetsOf(contents.tools).map(
    ([toolset, tools]) =>
      `## ${toolset}\n\n${tools.map(({ name, description, readOnly }) => `- \`${name}\` (${readOnly ? "reads" : "writes"}): ${oneLine(description)}`).join("\n")}\n`,
  );
  return `# Tools of ${titleOf(contents)}\n\n${sections.join("\n")}`;
}

function toolsetsOf(tools: readonly PackageTool[]): [string, PackageTool[]][] {
  const sets = new Map<string, PackageTool[]>();
  for (const tool of tools) sets.set(tool.toolset, [...(sets.get(tool.toolset) ?? []), tool]);
  return [...sets];
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
