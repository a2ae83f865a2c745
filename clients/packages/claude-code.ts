import {
  type Contents,
  type Files,
  json,
  keyAskedOf,
  keysPageOf,
  LICENSE,
  nameOf,
  summaryOf,
  titleOf,
} from "./contents.js";
import { KEY_VARIABLE } from "./mcp-clients.js";
import { skillOf } from "./skill.js";

/** By which Claude Code keeps the key in its secret store. */
const KEY = "api_key";
/** The end of the file's name. */
export const CLAUDE_CODE_SUFFIX = "-claude-code.zip";

/**
 * A plugin of Claude Code that is a marketplace of itself: one folder for both ways to install it. The
 * marketplace has the plugin's name: of two marketplaces of one name Claude Code keeps the newer, and loses the
 * plugins of the other.
 */
export function claudeCodePlugin(contents: Contents, version: string): Files {
  const name = nameOf(contents);
  const { server, serviceName, url, key, homepage } = contents;
  const plugin = {
    $schema: "https://json.schemastore.org/claude-code-plugin-manifest.json",
    name,
    displayName: titleOf(contents),
    version,
    description: summaryOf(contents),
    author: { name: serviceName, url: homepage },
    homepage,
    license: LICENSE,
    keywords: ["mcp", server],
    userConfig: { [KEY]: { ...keyAskedOf(contents), ...(key !== undefined && { default: key }) } },
  };
  const marketplace = {
    name,
    owner: { name: serviceName },
    description: summaryOf(contents),
    plugins: [{ name, source: "./", description: summaryOf(contents) }],
  };
  const headers = { Authorization: `Bearer \${user_config.${KEY}}` };
  const keyIn = `with \`/plugin configure ${name}@${name}\` in Claude Code, or downloads a new package. Then the user starts Claude Code again.`;
  const skill = Object.entries(skillOf(contents, version, keyIn)).map(([path, text]) => [
    `${name}/skills/${path}`,
    text,
  ]);
  return {
    [`${name}/.claude-plugin/plugin.json`]: json(plugin),
    [`${name}/.claude-plugin/marketplace.json`]: json(marketplace),
    [`${name}/.mcp.json`]: json({ mcpServers: { [server]: { type: "http", url, headers } } }),
    [`${name}/README.md`]: readme(contents),
    ...Object.fromEntries(skill),
  };
}

function readme(contents: Contents): string {
  const name = nameOf(contents);
  const { key, url } = contents;
  const keyed =
    key === undefined
      ? `Claude Code asks for your API key when the plugin is enabled, and keeps it in its secret store. Create the key at
${keysPageOf(contents)}. To enter it from a shell that has it in \`${KEY_VARIABLE}\`:

    printf '{"${KEY}":"%s"}' "$${KEY_VARIABLE}" | claude plugin configure ${name}@${name} --values-stdin

For one session the plugin is called \`${name}@inline\`.`
      : `Your API key is in this folder: treat the folder like a password, and give it to nobody. If you do not need it any
longer, or somebody else has seen it, revoke the key at ${keysPageOf(contents)}. To use another key, enter it with
\`/plugin configure ${name}@${name}\`.`;
  return `# ${titleOf(contents)} for Claude Code

${summaryOf(contents)} The plugin connects Claude Code to ${url}. A skill lists the tools and says when to use them.

## Install

Permanently: unpack the file, then

    claude plugin marketplace add ./${name}
    claude plugin install ${name}@${name}

Claude Code reads the plugin from this folder: do not delete it. To update, replace the folder.

For one session: \`claude --plugin-dir ./${name}${CLAUDE_CODE_SUFFIX}\`

## API key

${keyed}
`;
}
