import { join } from "node:path";
import type { ConfiguredPlatform, ConfiguredPlatforms, PlatformAuthentications } from "../catalogue/platforms.js";
import type { Apart } from "../sandbox/apart.js";
import { CHOOSING_SERVERS, PLATFORMS, type Platform, type PlatformServer } from "../shared/platforms.js";
import type { Log } from "../shared/process/log.js";
import type { Settings } from "./config.js";

/** The built-in platforms answer on this machine alone: they run where catalogue and the proxy both do. */
export function runsSandboxes({ sandbox, services }: Settings): boolean {
  return sandbox && services.includes("catalogue") && services.includes("platform-proxy");
}

/** The thread of the built-in platforms, which loads from now on; undefined if the settings ask for none. */
export async function prepareBuiltIn(settings: Settings, log: Log): Promise<Apart | undefined> {
  if (!runsSandboxes(settings) || !PLATFORMS.some((platform) => isBuiltIn(platform, settings))) return undefined;
  const { createApart } = await import("../sandbox/apart.js");
  return createApart(log);
}

/**
 * The platforms that configuration sets: real ones by their address, built-in
 * ones, started in their thread, in place of those that are not set.
 *
 * @param trust the base URL whose tokens the built-in platforms trust.
 * @throws Error in one line, if the built-in ones cannot start.
 */
export async function configurePlatforms(
  settings: Settings,
  trust: string,
  apart: Apart | undefined,
): Promise<ConfiguredPlatforms> {
  const builtIn = apart === undefined ? [] : PLATFORMS.filter((platform) => isBuiltIn(platform, settings));
  const { dataDir, sandboxLatencyMs: latencyMs } = settings;
  const where = { host: "127.0.0.1", port: 0, trust, latencyMs };
  const placed = builtIn.map(({ name }) => ({ ...where, server: name, file: join(dataDir, "sandbox", name) }));
  const urls = (await apart?.start(placed)) ?? [];
  const configured: { [server in PlatformServer]?: ConfiguredPlatform } = {};
  for (const platform of PLATFORMS) {
    const { name, sandbox: title = name } = platform;
    const url = settings[`${name}Url` as const];
    const own = urls[builtIn.indexOf(platform)];
    if (url !== undefined) {
      const publicUrl = settings[`${name}PublicUrl` as const] ?? url;
      configured[name] = { url, publicUrl, title: new URL(url).host };
    } else if (own !== undefined) {
      configured[name] = { url: own, publicUrl: own, title, isBuiltIn: true };
    }
  }
  return configured;
}

function isBuiltIn({ name, sandbox }: Platform, settings: Settings): boolean {
  return sandbox !== undefined && settings[`${name}Url` as const] === undefined;
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
