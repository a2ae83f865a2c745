import { type Contents, type Files, json, keyAskedOf, LICENSE, nameOf, summaryOf, titleOf } from "./contents.js";
import { skillOf } from "./skill.js";

/** What every bundle has: the bridge, and a picture. */
export interface BundleAssets {
  readonly bridge: string;
  readonly icon: Uint8Array;
}

/** A desktop extension (MCPB manifest 0.3). It is not signed: hosts reject what the present tool signs. */
export function desktopExtension(contents: Contents, version: string, { bridge, icon }: BundleAssets): Files {
  const { server, serviceName, url, key, tools, homepage } = contents;
  const manifest = {
    manifest_version: "0.3",
    name: nameOf(contents),
    display_name: titleOf(contents),
    version,
    description: summaryOf(contents),
    author: { name: serviceName, url: homepage },
    homepage,
    icon: "icon.png",
    server: {
      type: "node",
      entry_point: "server/index.js",
      mcp_config: {
        command: "node",
        // The key is in no argument: lists of processes show those.
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the host writes its folder there.
        args: ["${__dirname}/server/index.js"],
        // biome-ignore lint/suspicious/noTemplateCurlyInString: and what the person entered there.
        env: { SERVICE_MCP_URL: url, SERVICE_API_KEY: key ?? "${user_config.api_key}" },
      },
    },
    tools: tools.map(({ name }) => ({ name })),
    tools_generated: true,
    keywords: ["mcp", server],
    license: LICENSE,
    compatibility: { platforms: ["darwin", "win32", "linux"], runtimes: { node: ">=18.0.0" } },
    ...(key === undefined && { user_config: { api_key: keyAskedOf(contents) } }),
  };
  const keyIn =
    "in the settings of this extension. If the extension does not ask for a key, the user downloads a new package and installs it.";
  const skill = Object.entries(skillOf(contents, version, keyIn)).map(([path, text]) => [`skills/${path}`, text]);
  return {
    "manifest.json": json(manifest),
    "server/index.js": bridge,
    "icon.png": icon,
    ...Object.fromEntries(skill),
  };
}
