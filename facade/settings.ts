import type { Config } from "../services/shared/process/config.js";
import { VERSION } from "../services/shared/process/version.js";
import { externalIssuerOf, type FACADE_OPTIONS, publicUrlsOf } from "./config.js";
import type { FacadeOptions } from "./facade.js";
import { readConsole } from "./http/console-files.js";

type Settings = Config<typeof FACADE_OPTIONS>;

/** What the settings say of a façade, wherever it runs. */
export function facadeOptionsOf(
  settings: Settings,
  baseUrl: string,
): Pick<
  FacadeOptions,
  | "baseUrl"
  | "publicUrls"
  | "externalIssuer"
  | "serviceName"
  | "apiKeyVariable"
  | "version"
  | "origins"
  | "hosts"
  | "proxies"
  | "limits"
  | "edge"
  | "console"
  | "traceRatio"
> {
  const publicUrls = Object.entries(publicUrlsOf(settings)).map(([server, url]) => [server, new URL(url)] as const);
  return {
    baseUrl: new URL(baseUrl),
    publicUrls: Object.fromEntries(publicUrls),
    externalIssuer: externalIssuerOf(settings),
    serviceName: settings.serviceName,
    apiKeyVariable: settings.apiKeyVariable,
    version: VERSION,
    origins: settings.allowedOrigins,
    hosts: settings.allowedHosts,
    proxies: settings.trustedProxies,
    edge: settings.edge,
    console: readConsole(),
    traceRatio: settings.tracing ? settings.traceSampleRatio : 0,
    limits: {
      inFlight: settings.maxInFlight,
      connections: settings.maxConnections,
      callMs: settings.callTimeoutMs,
      slowMs: settings.slowCallMs,
      badTokens: settings.badTokensPerMinute,
    },
  };
}
