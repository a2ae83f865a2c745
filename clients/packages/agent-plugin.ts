import { AUTHOR, type Contents, type Files, json, LICENSE, nameOf, summaryOf, titleOf } from "./contents.js";
import { skillOf } from "./skill.js";

const SCHEMAS = "https://agent-plugins.org/schemas/1.0.0";

/** A plugin of the Agent Plugins Specification 1.0.0. By its rule it carries no credential, and no header. */
export function agentPlugin(contents: Contents, version: string): Files {
  const name = nameOf(contents);
  const { server, url, homepage } = contents;
  const plugin = {
    $schema: `${SCHEMAS}/plugin.schema.json`,
    name,
    version,
    description: summaryOf(contents),
    author: { name: AUTHOR, url: homepage },
    homepage,
    license: LICENSE,
    keywords: ["mcp", server],
  };
  const mcp = { $schema: `${SCHEMAS}/mcp.schema.json`, mcpServers: { [name]: { type: "streamable-http", url } } };
  const skill = Object.entries(skillOf(contents, version)).map(([path, text]) => [`${name}/skills/${path}`, text]);
  return {
    [`${name}/plugin.json`]: json(plugin),
    [`${name}/mcp.json`]: json(mcp),
    [`${name}/README.md`]: `# ${titleOf(contents)}

${summaryOf(contents)} This package carries no key, and can carry none.

- A client that speaks OAuth signs you in at the first call.
- Codex: add \`[mcp_servers.${name}]\` with \`url\` and \`bearer_token_env_var\` to \`~/.codex/config.toml\`: it replaces the entry of this package.
- Copilot CLI, VS Code, Cursor: add the configuration that the console shows under another name, and switch off the server of this package.

Unpack it first. Copilot CLI: \`copilot plugin install ./${name}\`. VS Code: \`chat.pluginLocations\`.
`,
    ...Object.fromEntries(skill),
  };
}
