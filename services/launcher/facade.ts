import type { FileRegistry } from "@bufbuild/protobuf";
import { type EdgeName, FACADE_OPTIONS } from "../../facade/config.js";
import type { Facade } from "../../facade/facade.js";
import { callRatesOfWorker } from "../shared/limits/settings.js";
import type { Shares } from "../shared/limits/shares.js";
import { envOf, textOf } from "../shared/process/config.js";
import type { Log } from "../shared/process/log.js";
import type { Credential } from "../shared/rpc/call.js";
import type { Settings } from "./config.js";
import type { LocalServices } from "./local-services.js";
import type { Routing } from "./routing.js";

/** What a façade in this process is given. */
export interface FacadeSurroundings {
  readonly baseUrl: string;
  readonly port: number;
  readonly routing: Routing;
  readonly services: LocalServices;
  readonly self: () => Credential;
  readonly image: FileRegistry;
  readonly shares: Shares;
  readonly log: Log;
}

/**
 * The edge of this process' façade workers: chosen once, before anything is begun.
 *
 * @throws Error in one line, where the one that is named cannot serve here.
 */
export async function edgeOf({ edge, workers }: Settings, log: Log): Promise<EdgeName> {
  const { chooseEdge } = await import("../../facade/http/edges.js");
  return chooseEdge(edge, log, { shares: workers > 1 });
}

/** Runs a façade in this process: only then is it loaded. */
export async function runFacade(settings: Settings, around: FacadeSurroundings): Promise<Facade> {
  const { baseUrl, port, routing, services, self, image, shares, log } = around;
  const { createFacade } = await import("../../facade/facade.js");
  const { facadeOptionsOf } = await import("../../facade/settings.js");
  const facade = await createFacade({
    ...facadeOptionsOf(settings, baseUrl),
    dispatch: routing,
    self: self(),
    credentials: services.credentials,
    image,
    shares,
    ready: services.ready,
    log,
  });
  await facade.listen(settings.host, port, { exclusive: true });
  return facade;
}

/** The settings of our own that a façade in a process of its own reads as they are, flag or not. */
const OF_WORKERS = [
  ...(Object.keys(FACADE_OPTIONS) as (keyof typeof FACADE_OPTIONS)[]),
  "keyPrefix",
  "logLevel",
] as const;

/** The settings that a façade in a process of its own reads: all of them, because it is given no flags. */
export function workerEnv(
  settings: Settings,
  { port, baseUrl, grpcUrl, key }: { port: number; baseUrl: string; grpcUrl: string; key: string },
): Record<string, string> {
  const runs = new Set<string>(settings.services);
  const rates = callRatesOfWorker(settings, settings.workers);
  const at = (name: string, elsewhere: readonly string[] = []): string =>
    runs.has(name) ? grpcUrl : elsewhere.join(",");
  return {
    ...Object.fromEntries(OF_WORKERS.map((name) => [envOf(name), textOf(settings[name])])),
    PORT: String(port),
    BASE_URL: baseUrl,
    SERVICE_KEY: key,
    AUTH_URL: at("auth", settings.authUrl),
    CATALOGUE_URL: at("catalogue", settings.catalogueUrl),
    PLATFORM_PROXY_URL: at("platform-proxy", settings.platformProxyUrl),
    CORE_OBJECTS_URL: at("core-objects", settings.coreObjectsUrl),
    TRACES_URL: at("traces", settings.tracesUrl),
    SHARED_PORT: "on",
    // Workers are counted through the process that started them.
    METRICS_PORT: "",
    ...Object.fromEntries(Object.entries(rates).map(([name, calls]) => [envOf(name), String(calls)])),
  };
}
