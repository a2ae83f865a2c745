import { type Contents, type Files, keysPageOf, LICENSE, nameOf, type PackageTool, titleOf } from "./contents.js";

/** The most characters of a skill's description (agentskills.io). */
const MAX_DESCRIPTION = 1_024;

/**
 * A skill (agentskills.io): when to use the server, what to do without a key,
 * and what its tools do, as far as the person who gets the package reaches them.
 *
 * @param keyIn where the user gives the client the key: the rest of "The user enters it".
 * @returns its files, by path below the folder that holds skills.
 */
export function skillOf(contents: Contents, version: string, keyIn: string): Files {
  const name = nameOf(contents);
  return {
    [`${name}/SKILL.md`]: skillPage(contents, version, keyIn),
    [`${name}/references/TOOLS.md`]: toolPage(contents),
  };
}

function skillPage(contents: Contents, version: string, keyIn: string): string {
  const { server, serviceName, tools, guidance } = contents;
  // A JSON text is a YAML text (YAML 1.2 section 1.3): nothing in it ends the value.
  const front = {
    name: nameOf(contents),
    description: descriptionOf(contents),
    license: LICENSE,
    compatibility: "Needs network access to the MCP endpoint, and an API key of the user or a sign-in by OAuth.",
  };
  const lines = Object.entries(front).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `---
${lines.join("\n")}
metadata:
  version: ${JSON.stringify(version)}
---

# ${oneLine(titleOf(contents))}

Every call of the MCP server \`${server}\` runs as the user. Its tools return only what the user may see.
A tool that is not listed here is not available: the user lacks the right for it, or the package leaves it out.

| Toolset | Tools |
| --- | --- |
${toolsetsOf(tools)
  .map(([toolset, own]) => `| ${toolset} | ${own.map((tool) => `\`${tool.name}\``).join(", ")} |`)
  .join("\n")}

[What each tool does](references/TOOLS.md). Tools take the ids that other tools return.

## Setup

If the client has none of these tools, or ${oneLine(serviceName)} refuses the key, the client has no valid API key.
Do not ask for the key in the conversation. Give the user these steps instead:

1. The user creates a key at ${keysPageOf(contents)}.
2. The user enters it ${keyIn}
${guidance.length === 0 ? "" : `\n## How to use them\n\n${guidance.map((text) => `- ${text}`).join("\n")}\n`}`;
}

function descriptionOf({ server, serviceName, subject, topics }: Contents): string {
  const asked = topics.length === 0 ? subject : topics.join(", ");
  return oneLine(
    `Use the ${server} tools of ${serviceName} for ${subject}. Use them if the user asks about ${asked}.`,
  ).slice(0, MAX_DESCRIPTION);
}

function toolPage(contents: Contents): string {
  const sections = toolsetsOf(contents.tools).map(
    ([toolset, tools]) =>
      `## ${toolset}\n\n${tools.map(({ name, description, readOnly }) => `- \`${name}\` (${readOnly ? "reads" : "writes"}): ${oneLine(description)}`).join("\n")}\n`,
  );
  return `# Tools of ${oneLine(titleOf(contents))}\n\n${sections.join("\n")}`;
}

function toolsetsOf(tools: readonly PackageTool[]): [string, PackageTool[]][] {
  const sets = new Map<string, PackageTool[]>();
  for (const tool of tools) {
    const own = sets.get(tool.toolset);
    if (own === undefined) sets.set(tool.toolset, [tool]);
    else own.push(tool);
  }
  return [...sets];
}

/** @returns the text without line breaks; single blanks, which most texts have, are not replaced by themselves. */
function oneLine(text: string): string {
  return text.replaceAll(/\s{2,}|[^\S ]/g, " ").trim();
}
