import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ConfiguredPlatform, ConfiguredPlatforms, PlatformAuthentications } from "../catalogue/platforms.js";
import type { StartedSandbox } from "../sandbox/start.js";
import { CHOOSING_SERVERS, PLATFORMS, type PlatformServer } from "../shared/platforms.js";
import type { Settings } from "./config.js";

/** The platforms that configuration sets. */
export interface Platforms {
  readonly configured: ConfiguredPlatforms;
  /** Opens the built-in ones, one after another: each is busy for a moment, and calls are answered between them. */
  open(): void;
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
  const started: StartedSandbox[] = [];
  const ended = new AbortController();
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
    open: () => void openEach(started, ended.signal),
    close: async () => {
      ended.abort();
      await Promise.all(started.map((sandbox) => sandbox.close()));
    },
  };
}

/** Between two platforms that are opened, in milliseconds. */
const PAUSE_MS = 300;

async function openEach(sandboxes: readonly StartedSandbox[], signal: AbortSignal): Promise<void> {
  for (const sandbox of sandboxes) {
    // One that does not open says so to each who asks it.
    await sleep(PAUSE_MS, undefined, { ref: false, signal })
      .then(() => sandbox.open())
      .catch(() => undefined);
    if (signal.aborted) return;
  }
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
