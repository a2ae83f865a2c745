import type { FileRegistry } from "@bufbuild/protobuf";
import type { Facade } from "../../facade/facade.js";
import { callRatesOf } from "../shared/limits/settings.js";
import { createShares } from "../shared/limits/shares.js";
import { type Log, silentLog } from "../shared/process/log.js";
import { letOthersFinish } from "../shared/process/scheduling.js";
import type { Credential } from "../shared/rpc/call.js";
import { serveConnect } from "../shared/rpc/connect.js";
import { health, unknownService } from "../shared/rpc/health.js";
import type { LaneOptions } from "../shared/rpc/lane/open.js";
import { countCalls } from "../shared/rpc/observed-calls.js";
import { bindPageTokens } from "../shared/rpc/page-token.js";
import { reflection } from "../shared/rpc/reflection.js";
import type { Hold } from "../shared/rpc/socket/calls.js";
import { openStore } from "../shared/store/open.js";
import { readImage } from "../shared/tools/image.js";
import { baseUrlOf, isEveryAddress, reachable } from "./base-url.js";
import type { Settings } from "./config.js";
import { prepareDataDir } from "./data-dir.js";
import { edgeOf, runFacade, workerEnv } from "./facade.js";
import { firstStart, serviceKey, writeAddresses } from "./first-start.js";
import { laneOf } from "./lane.js";
import { type LocalServices, startLocalServices } from "./local-services.js";
import { configurePlatforms, prepareBuiltIn, runsSandboxes } from "./platforms.js";
import { reservePort } from "./ports.js";
import { narrowToOwner } from "./private-files.js";
import { createRouting } from "./routing.js";
import { switchCoreOn } from "./switch-core-on.js";
import { startTracing } from "./tracing.js";
import { forkWorkers, type Workers } from "./workers.js";

/** The tables that requests to the ports of a process are routed by. */
export interface Routes {
  /** Of the façade; empty where workers run apart. */
  readonly http: Facade["routes"];
  /** Paths at the gRPC port. */
  readonly rpc: readonly string[];
}

/** A running process. */
export interface Running {
  readonly baseUrl: string;
  readonly grpcUrl: string;
  /** Undefined if no metrics are served. */
  readonly metricsUrl: string | undefined;
  /** What is answered at each port: the tables that requests are routed by. */
  readonly routes: Routes;
  /** It made the first users. */
  readonly isFirst: boolean;
  /** The first start switched core on. */
  readonly coreSwitchedOn: boolean;
  /** Takes no new work, lets what is in flight finish, and closes everything in order. */
  stop(graceMs: number): Promise<void>;
}

/** Starts what the settings say: services, façade workers and built-in platforms. */
export async function start(settings: Settings, log: Log): Promise<Running> {
  const ending: ((graceMs: number) => Promise<unknown> | unknown)[] = [];
  const stop = async (graceMs: number): Promise<void> => {
    for (const end of ending.toReversed()) await end(graceMs);
  };
  try {
    return { ...(await startParts(settings, log, ending)), stop };
  } catch (error) {
    await stop(0);
    throw error;
  }
}

async function startParts(
  settings: Settings,
  log: Log,
  ending: ((graceMs: number) => Promise<unknown> | unknown)[],
): Promise<Omit<Running, "stop">> {
  const { host, dataDir, workers, mongodbUri } = settings;
  const builtIn = await prepareBuiltIn(settings, log);
  // For a start that fails; otherwise they end after what calls them, and before the store.
  ending.push(() => builtIn?.close());
  const edge = workers === 0 ? undefined : await edgeOf(settings, log);
  const port = workers === 0 ? settings.port : await reservePort(host, settings.port, "port");
  const grpcPort = await reservePort(host, settings.grpcPort, "gRPC port");
  const lane = await laneOf(settings, edge ?? settings.edge, log);
  const baseUrl = baseUrlOf(settings, port);
  if (settings.baseUrl === undefined && isEveryAddress(host)) {
    log.warn(
      { baseUrl },
      `BASE_URL is not set, and clients cannot call ${host}: set BASE_URL to the address that clients and platforms use`,
    );
  }

  prepareDataDir(dataDir);
  narrowToOwner(dataDir, log);
  const store = await openStore({ mongodbUri, dataDir, log });
  ending.push(() => store.close());
  const runsAuth = settings.services.includes("auth");
  const isFirst = runsAuth && (await firstStart(store, dataDir, settings.keyPrefix));
  const grpcUrl = `http://${reachable(host)}:${grpcPort}`;
  const pool = forkPool({ ...settings, edge }, { port, baseUrl, grpcUrl }, log);
  // For a start that fails; otherwise they end before what they call.
  ending.push(() => pool?.drain(0));

  // Not before: while the store is open, nobody else writes their files. The services that need them wait for them.
  const platforms = configurePlatforms(settings, baseUrl, builtIn);
  platforms.catch(() => undefined);
  ending.push(() => builtIn?.close());

  const self = (): Credential => ({ authorization: `Bearer ${serviceKey(settings.serviceKey, dataDir)}` });
  const image = readImage();
  const routing = createRouting({
    auth: settings.authUrl,
    catalogue: settings.catalogueUrl,
    "platform-proxy": settings.platformProxyUrl,
    "core-objects": settings.coreObjectsUrl,
    traces: settings.tracesUrl,
  });
  const tracing = await startTracing(settings, grpcUrl, self);
  // By then our own collector may have ended, and spans are not worth a failing exit.
  const unsent = (err: unknown): void => log.info({ err }, "the last spans were not sent");
  ending.push(() => tracing?.close().catch(unsent));
  const shares = createShares(callRatesOf(settings));
  const services = await startLocalServices({
    settings,
    store,
    routing,
    image,
    self,
    platforms,
    baseUrl,
    shares,
    observe: countCalls(tracing?.observe),
    log,
  });
  ending.push(() => services.close());
  bindPageTokens(serviceKey(settings.serviceKey, dataDir));
  const rpc = await serveRpc(host, grpcPort, lane, services, image);
  ending.push((graceMs) => rpc.close(graceMs));
  ending.push(() => tracing?.flush().catch(unsent));

  let facade: Facade | undefined;
  if (workers === 1) {
    facade = await runFacade({ ...settings, edge }, { baseUrl, port, routing, services, self, image, shares, log });
    ending.push((graceMs) => facade?.drain(graceMs));
  }
  if (pool !== undefined) {
    ending.push((graceMs) => pool.drain(graceMs));
    await pool.serve(services.ready);
    // Workers keep the policy that they were forked with.
    letOthersFinish();
  }
  const metricsUrl = await serveMetricsOf(settings, services.ready, pool, ending);
  if (runsAuth) writeAddresses(dataDir, baseUrl, grpcUrl);
  // What the store has made meanwhile; nobody but its owner could enter the directory.
  narrowToOwner(dataDir, silentLog);
  const coreSwitchedOn = isFirst && runsSandboxes(settings) && (await switchCoreOn(routing, dataDir, log));
  const routes = { http: facade?.routes ?? [], rpc: rpc.paths };
  return { baseUrl, grpcUrl, metricsUrl, routes, isFirst, coreSwitchedOn };
}

/** Façade workers that wait until the services can answer; undefined if the settings ask for none. */
function forkPool(
  settings: Settings,
  addresses: { readonly port: number; readonly baseUrl: string; readonly grpcUrl: string },
  log: Log,
): Workers | undefined {
  const { workers: count, dataDir } = settings;
  if (count <= 1) return undefined;
  const key = serviceKey(settings.serviceKey, dataDir);
  return forkWorkers({ count, env: workerEnv(settings, { ...addresses, key }), log });
}

/** Returns the URL of the metrics, if the settings ask for them. */
async function serveMetricsOf(
  { metricsHost: host, metricsPort: port }: Settings,
  ready: LocalServices["ready"],
  workers: Workers | undefined,
  ending: ((graceMs: number) => Promise<unknown> | unknown)[],
): Promise<string | undefined> {
  if (port === undefined) return undefined;
  const { startMetrics } = await import("./metrics.js");
  const metrics = await startMetrics({ host, port, ready, workers });
  ending.push(() => metrics.close());
  return `http://${reachable(host)}:${metrics.port}/metrics`;
}

/** Our services, health and reflection, on one port; and their unary rpcs on the lane, if there is one. */
function serveRpc(
  host: string,
  port: number,
  lane: LaneOptions | undefined,
  services: LocalServices,
  image: FileRegistry,
) {
  const [first] = services.methods;
  if (first === undefined) throw new Error("--services (or SERVICES) names no service");
  const names = new Set(services.methods.map(({ method }) => method.desc.parent.typeName));
  const more = [
    ...health((service) => services.readyOf(service) ?? unknownService(service)),
    reflection(image, [...names].sort()),
  ];
  const methods = [...services.methods, ...more.map((method) => ({ method, steps: first.steps }))];
  const hold: Hold = (caller, kill) => services.credentials.holdCaller(caller, kill);
  return serveConnect({ host, port, methods, hold, lane });
}
