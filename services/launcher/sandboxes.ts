import type { ConfiguredPlatform, ConfiguredPlatforms } from "../catalogue/platforms.js";
import { startAevSandbox } from "../sandbox/aev/server.js";
import { startCtiSandbox } from "../sandbox/cti/server.js";
import { startGrcSandbox } from "../sandbox/grc/server.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import type { Settings } from "./config.js";

export interface Platforms {
  readonly configured: ConfiguredPlatforms;
  close(): Promise<void>;
}

/**
 * The platforms that configuration sets: real ones by their address, built-in
 * ones, started here, in place of those that are not set.
 *
 * @param trust the base URL whose tokens the built-in platforms trust.
 */
export async function configurePlatforms(settings: Settings, trust: string): Promise<Platforms> {
  const started: Sandbox[] = [];
  const configured: { cti?: ConfiguredPlatform; aev?: ConfiguredPlatform; grc?: ConfiguredPlatform } = {};
  const where = { host: "127.0.0.1", port: 0, trust };

  const { ctiUrl, aevUrl, grcUrl } = settings;
  const builtIn = async (title: string, starting: Promise<Sandbox>): Promise<ConfiguredPlatform> => {
    const sandbox = await starting;
    started.push(sandbox);
    return { url: sandbox.url, publicUrl: sandbox.url, title };
  };
  const real = (url: string, publicUrl: string | undefined): ConfiguredPlatform => ({
    url,
    publicUrl: publicUrl ?? url,
    title: new URL(url).host,
  });

  if (ctiUrl !== undefined) configured.cti = real(ctiUrl, settings.ctiPublicUrl);
  else if (settings.sandbox) configured.cti = await builtIn("Sandbox threat intelligence", startCtiSandbox(where));
  if (aevUrl !== undefined) configured.aev = real(aevUrl, settings.aevPublicUrl);
  else if (settings.sandbox) configured.aev = await builtIn("Sandbox exposure validation", startAevSandbox(where));
  if (grcUrl !== undefined) configured.grc = real(grcUrl, settings.grcPublicUrl);
  else if (settings.sandbox)
    configured.grc = await builtIn("Sandbox governance, risk, compliance", startGrcSandbox(where));

  return {
    configured,
    close: async () => {
      await Promise.all(started.map((sandbox) => sandbox.close()));
    },
  };
}
