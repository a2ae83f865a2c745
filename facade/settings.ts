import type { Config } from "../services/shared/process/config.js";
import { VERSION } from "../services/shared/process/version.js";
import type { FACADE_OPTIONS } from "./config.js";
import type { FacadeOptions } from "./facade.js";

type Settings = Config<typeof FACADE_OPTIONS>;

/** What the settings say of a façade, wherever it runs. */
export function facadeOptionsOf(
  settings: Settings,
  baseUrl: string,
): Pick<
  FacadeOptions,
  "baseUrl" | "publicUrls" | "serviceName" | "version" | "origins" | "hosts" | "proxies" | "limits"
> {
  const { mcpCtiUrl, mcpAevUrl, mcpGrcUrl, mcpCoreUrl } = settings;
  const publicUrls = Object.entries({ cti: mcpCtiUrl, aev: mcpAevUrl, grc: mcpGrcUrl, core: mcpCoreUrl });
  return {
    baseUrl: new URL(baseUrl),
    publicUrls: Object.fromEntries(
      publicUrls
        .filter((entry): entry is [string, string] => entry[1] !== undefined)
        .map(([s, url]) => [s, new URL(url)]),
    ),
    serviceName: settings.serviceName,
    version: VERSION,
    origins: settings.allowedOrigins,
    hosts: settings.allowedHosts,
    proxies: settings.trustedProxies,
    limits: {
      inFlight: settings.maxInFlight,
      callMs: settings.callTimeoutMs,
      callsPerSecond: settings.callsPerSecond,
      callBurst: settings.callBurst,
      badTokens: settings.badTokensPerMinute,
    },
  };
}
