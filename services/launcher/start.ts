import { accessSync, constants, mkdirSync } from "node:fs";
import type { FileRegistry } from "@bufbuild/protobuf";
import { createFacade, type Facade } from "../../facade/facade.js";
import { facadeOptionsOf } from "../../facade/settings.js";
import type { Log } from "../shared/process/log.js";
import type { Credential } from "../shared/rpc/call.js";
import { serveConnect } from "../shared/rpc/connect.js";
import { health, unknownService } from "../shared/rpc/health.js";
import { reflection } from "../shared/rpc/reflection.js";
import { openStore } from "../shared/store/open.js";
import { readImage } from "../shared/tools/image.js";
import type { Settings } from "./config.js";
import { firstStart, serviceKey, writeAddresses } from "./first-start.js";
import { type LocalServices, startLocalServices } from "./local-services.js";
import { reservePort } from "./ports.js";
import { createRouting, type Routing } from "./routing.js";
import { configurePlatforms } from "./sandboxes.js";
import { switchCoreOn } from "./switch-core-on.js";
import { startTracing } from "./tracing.js";
import { startWorkers } from "./workers.js";

/** A running process. */
export interface Running {
  readonly baseUrl: string;
  readonly grpcUrl: string;
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
  const port = workers === 0 ? settings.port : await reservePort(host, settings.port, "port");
  const grpcPort = await reservePort(host, settings.grpcPort, "gRPC port");
  const baseUrl = settings.baseUrl ?? `http://${host}:${port}`;

  makeDataDir(dataDir);
  const store = await openStore({ mongodbUri, dataDir, log });
  ending.push(() => store.close());
  const runsAuth = settings.services.includes("auth");
  const isFirst = runsAuth && (await firstStart(store, dataDir, settings.keyPrefix));

  const runsCatalogue = settings.services.includes("catalogue");
  const platforms = await configurePlatforms({ ...settings, sandbox: settings.sandbox && runsCatalogue }, baseUrl);
  ending.push(() => platforms.close());

  const self = (): Credential => ({ authorization: `Bearer ${serviceKey(settings.serviceKey, dataDir)}` });
  const image = readImage();
  const routing = createRouting({
    auth: settings.authUrl,
    catalogue: settings.catalogueUrl,
    "platform-proxy": settings.platformProxyUrl,
    "core-objects": settings.coreObjectsUrl,
    traces: settings.tracesUrl,
  });
  const grpcUrl = `http://${reachable(host)}:${grpcPort}`;
  const tracing = await startTracing(settings, grpcUrl, self);
  // By then our own collector may have ended, and spans are not worth a failing exit.
  const unsent = (err: unknown): void => log.info({ err }, "the last spans could not be sent");
  ending.push(() => tracing?.close().catch(unsent));
  const services = await startLocalServices({
    settings,
    store,
    routing,
    image,
    self,
    platforms: platforms.configured,
    baseUrl,
    observe: tracing?.observe,
    log,
  });
  ending.push(() => services.close());
  const rpc = await serveRpc(host, grpcPort, services, image);
  ending.push((graceMs) => rpc.close(graceMs));
  ending.push(() => tracing?.flush().catch(unsent));

  if (workers === 1) {
    const facade = await runFacade(settings, { baseUrl, port, routing, services, self, image, log });
    ending.push((graceMs) => facade.drain(graceMs));
  } else if (workers > 1) {
    const key = serviceKey(settings.serviceKey, dataDir);
    const pool = await startWorkers({ count: workers, env: workerEnv(settings, { port, baseUrl, grpcUrl, key }), log });
    ending.push((graceMs) => pool.drain(graceMs));
  }
  if (runsAuth) writeAddresses(dataDir, baseUrl, grpcUrl);
  const coreSwitchedOn = isFirst && settings.sandbox && runsCatalogue && (await switchCoreOn(routing, dataDir));
  return { baseUrl, grpcUrl, coreSwitchedOn };
}

function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "EEXIST" ? "it is no directory" : message;
    throw new Error(`the data directory ${dataDir} cannot be used: ${reason}; set --data-dir (or DATA_DIR)`);
  }
}

/** Our services, health and reflection, on one port. */
function serveRpc(host: string, port: number, services: LocalServices, image: FileRegistry) {
  const [first] = services.methods;
  if (first === undefined) throw new Error("--services (or SERVICES) names no service");
  const names = new Set(services.methods.map(({ method }) => method.desc.parent.typeName));
  const more = [
    ...health((service) => services.readyOf(service) ?? unknownService(service)),
    reflection(image, [...names].sort()),
  ];
  const methods = [...services.methods, ...more.map((method) => ({ method, steps: first.steps }))];
  return serveConnect({ host, port, methods });
}

interface FacadeSurroundings {
  readonly baseUrl: string;
  readonly port: number;
  readonly routing: Routing;
  readonly services: LocalServices;
  readonly self: () => Credential;
  readonly image: FileRegistry;
  readonly log: Log;
}

async function runFacade(settings: Settings, around: FacadeSurroundings): Promise<Facade> {
  const { baseUrl, port, routing, services, self, image, log } = around;
  const facade = await createFacade({
    ...facadeOptionsOf(settings, baseUrl),
    dispatch: routing,
    self: self(),
    credentials: services.credentials,
    image,
    ready: services.ready,
    log,
  });
  await facade.listen(settings.host, port, { exclusive: true });
  return facade;
}

/** The settings that a façade in a process of its own reads. */
function workerEnv(
  settings: Settings,
  { port, baseUrl, grpcUrl, key }: { port: number; baseUrl: string; grpcUrl: string; key: string },
): Record<string, string> {
  const runs = new Set<string>(settings.services);
  const at = (name: string, elsewhere: string | undefined): string => (runs.has(name) ? grpcUrl : (elsewhere ?? ""));
  return {
    HOST: settings.host,
    PORT: String(port),
    BASE_URL: baseUrl,
    SERVICE_KEY: key,
    AUTH_URL: at("auth", settings.authUrl),
    CATALOGUE_URL: at("catalogue", settings.catalogueUrl),
    PLATFORM_PROXY_URL: at("platform-proxy", settings.platformProxyUrl),
    CORE_OBJECTS_URL: at("core-objects", settings.coreObjectsUrl),
    TRACES_URL: at("traces", settings.tracesUrl),
    SHARED_PORT: "on",
  };
}

/** How this machine reaches an address that it listens on. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
