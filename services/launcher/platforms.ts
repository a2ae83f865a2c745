import { join } from "node:path";
import type { ConfiguredPlatform, ConfiguredPlatforms, PlatformAuthentications } from "../catalogue/platforms.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { CHOOSING_SERVERS, PLATFORMS, type PlatformServer } from "../shared/platforms.js";
import type { Settings } from "./config.js";

/** The platforms that configuration sets. */
export interface Platforms {
  readonly configured: ConfiguredPlatforms;
  /** Ends the built-in ones. */
  close(): Promise<void>;
}

/** The built-in platforms answer on this machine alone: they run where catalogue and the proxy both do. */
export function runsSandboxes({ sandbox, services }: Settings): boolean {
  return sandbox && services.includes("catalogue") && services.includes("platform-proxy");
}

/**
 * The platforms that configuration sets: real ones by their address, built-in
 * ones, started here, in place of those that are not set.
 *
 * @param trust the base URL whose tokens the built-in platforms trust.
 */
export async function configurePlatforms(settings: Settings, trust: string): Promise<Platforms> {
  const started: Sandbox[] = [];
  const configured: { [server in PlatformServer]?: ConfiguredPlatform } = {};
  for (const { name, sandbox: title } of PLATFORMS) {
    const url = settings[`${name}Url` as const];
    if (url !== undefined) {
      const publicUrl = settings[`${name}PublicUrl` as const] ?? url;
      configured[name] = { url, publicUrl, title: new URL(url).host };
    } else if (runsSandboxes(settings) && title !== undefined) {
      const { startSandbox } = await import("../sandbox/start.js");
      const file = join(settings.dataDir, "sandbox", name);
      const latencyMs = settings.sandboxLatencyMs;
      const sandbox = await startSandbox(name, { host: "127.0.0.1", port: 0, trust, file, latencyMs });
      started.push(sandbox);
      configured[name] = { url: sandbox.url, publicUrl: sandbox.url, title, isBuiltIn: true };
    }
  }
  return {
    configured,
    close: async () => {
      await Promise.all(started.map((sandbox) => sandbox.close()));
    },
  };
}

/** How the platforms take our token, as the settings choose. */
export function authenticationsOf(settings: Settings): PlatformAuthentications {
  return Object.fromEntries(
    CHOOSING_SERVERS.map((server) => [
      server,
      { auth: settings[`${server}Auth` as const], clientId: settings[`${server}ClientId` as const] },
    ]),
  );
}
