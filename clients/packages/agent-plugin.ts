import { type Contents, type Files, json, keysPageOf, LICENSE, nameOf, summaryOf, titleOf } from "./contents.js";
import { KEY_VARIABLE, MCP_CLIENTS } from "./mcp-clients.js";
import { skillOf } from "./skill.js";

const SCHEMAS = "https://agent-plugins.org/schemas/1.0.0";

/**
 * A plugin of the Agent Plugins Specification 1.0.0. By its rule it carries no credential, and no header. It is also
 * a marketplace of Codex, which installs plugins only from one.
 */
export function agentPlugin(contents: Contents, version: string): Files {
  const name = nameOf(contents);
  const { server, serviceName, url, homepage } = contents;
  const plugin = {
    $schema: `${SCHEMAS}/plugin.schema.json`,
    name,
    version,
    description: summaryOf(contents),
    author: { name: serviceName, url: homepage },
    homepage,
    license: LICENSE,
    keywords: ["mcp", server],
  };
  const mcp = { $schema: `${SCHEMAS}/mcp.schema.json`, mcpServers: { [name]: { type: "streamable-http", url } } };
  const marketplace = {
    name,
    interface: { displayName: titleOf(contents) },
    plugins: [
      {
        name,
        source: { source: "local", path: "./" },
        policy: { installation: "AVAILABLE", authentication: "ON_INSTALL" },
        category: "Security",
      },
    ],
  };
  const keyIn = `as the README.md of the package \`${name}\` says for the client. Then the user starts the client again.`;
  const skill = Object.entries(skillOf(contents, version, keyIn)).map(([path, text]) => [
    `${name}/skills/${path}`,
    text,
  ]);
  return {
    [`${name}/plugin.json`]: json(plugin),
    [`${name}/mcp.json`]: json(mcp),
    [`${name}/.agents/plugins/marketplace.json`]: json(marketplace),
    [`${name}/README.md`]: readme(contents),
    ...Object.fromEntries(skill),
  };
}

function readme(contents: Contents): string {
  const name = nameOf(contents);
  const { url } = contents;
  const add = (client: string, entry: string): string | undefined =>
    MCP_CLIENTS.find((one) => one.name === client)?.command?.({ name: entry, url }, { variable: KEY_VARIABLE });
  return `# ${titleOf(contents)}

${summaryOf(contents)} The plugin connects a client to ${url}. A skill lists the tools and says when to use them.

This package contains no API key, and its format allows none. A client that speaks OAuth signs you in at the first
call. For the others, create a key at ${keysPageOf(contents)}, put it into the environment variable
\`${KEY_VARIABLE}\`, and follow the steps for your client. Unpack the file first.

## Codex

    codex plugin marketplace add ./${name}
    codex plugin add ${name}@${name}
    ${add("codex", name)}

The last command adds a server of the same name to your configuration. Codex uses it in place of the one of the plugin.

## Copilot CLI

    copilot plugin install ./${name}
    copilot mcp disable ${name}
    ${add("copilot", `${name}-key`)}

The plugin's own server cannot have a key: the last two commands put another one in its place.

## VS Code and Cursor

Add the plugin's folder (VS Code: the setting \`chat.pluginLocations\`). If the client does not sign you in, switch off
the plugin's server and add the configuration that the console shows for your client.
`;
}
