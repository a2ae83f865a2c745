import { AUTHOR, type Contents, type Files, json, LICENSE, nameOf, summaryOf, titleOf } from "./contents.js";
import { skillOf } from "./skill.js";

/** By which Claude Code keeps the key in its secret store. */
const KEY = "api_key";

/** A plugin of Claude Code that is a marketplace of itself: one folder for both ways to install it. */
export function claudeCodePlugin(contents: Contents, version: string): Files {
  const name = nameOf(contents);
  const { server, url, key, homepage } = contents;
  const plugin = {
    $schema: "https://json.schemastore.org/claude-code-plugin-manifest.json",
    name,
    displayName: titleOf(contents),
    version,
    description: summaryOf(contents),
    author: { name: AUTHOR, url: homepage },
    homepage,
    license: LICENSE,
    keywords: ["mcp", server],
    userConfig: {
      [KEY]: {
        type: "string",
        title: "API key",
        description: "An API key of yours: My Profile > API Keys in the console.",
        sensitive: true,
        required: true,
        ...(key !== undefined && { default: key }),
      },
    },
  };
  const marketplace = {
    name: "sallyport",
    owner: { name: AUTHOR },
    description: "Client packages of your company's Sallyport.",
    plugins: [{ name, source: "./", description: summaryOf(contents) }],
  };
  const headers = { Authorization: `Bearer \${user_config.${KEY}}` };
  const skill = Object.entries(skillOf(contents, version)).map(([path, text]) => [`${name}/skills/${path}`, text]);
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
  const ask =
    key === undefined
      ? "Claude Code asks for an API key when the plugin is enabled, and keeps it in its secret store."
      : "Your API key is in this folder: treat it like a password. To end it, revoke it in the console.";
  return `# ${titleOf(contents)} for Claude Code

${summaryOf(contents)} The endpoint is ${url}. ${ask} A skill explains the tools and when to use them.

- For one session: \`claude --plugin-dir ./${name}.zip\`
- For good: unpack, then \`claude plugin marketplace add ./${name}\` and \`claude plugin install ${name}@sallyport\`
`;
}
