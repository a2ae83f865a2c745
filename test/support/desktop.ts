import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

/** As much of @anthropic-ai/mcpb as a host of desktop extensions uses to start one. */
interface Library {
  hasRequiredConfigMissing(of: { manifest: object; userConfig: Readonly<Record<string, string>> }): boolean;
  getMcpConfigForManifest(of: {
    manifest: object;
    extensionPath: string;
    systemDirs: Readonly<Record<string, string>>;
    userConfig: Readonly<Record<string, string>>;
    pathSeparator: string;
  }): Promise<{ command: string; args: string[]; env: Record<string, string> } | undefined>;
}

/**
 * Starts an unpacked desktop extension as Claude Desktop does: the library of the format fills in its command.
 *
 * @param library the folder into which npm installed @anthropic-ai/mcpb.
 * @param userConfig what the person entered where the host asks.
 * @returns a client of it; undefined if the host does not start it, because it still has to ask.
 */
export async function startExtension(
  library: string,
  folder: string,
  userConfig: Readonly<Record<string, string>> = {},
): Promise<Client | undefined> {
  const path = join(library, "node_modules/@anthropic-ai/mcpb/dist/index.js");
  const mcpb = (await import(pathToFileURL(path).href)) as Library;
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as object;
  const systemDirs = { HOME: homedir() };
  const asked = { manifest, extensionPath: folder, systemDirs, userConfig, pathSeparator: "/" };
  if (mcpb.hasRequiredConfigMissing({ manifest, userConfig })) return undefined;
  const config = await mcpb.getMcpConfigForManifest(asked);
  if (config === undefined) throw new Error("the library of the format gives no command for this manifest");
  const { command, args, env } = config;
  const client = new Client({ name: "host-of-extensions", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command, args, env, stderr: "ignore" }));
  return client;
}
