import { createCredentials } from "../services/shared/credentials/credentials.js";
import { callRatesOf } from "../services/shared/limits/settings.js";
import { createShares } from "../services/shared/limits/shares.js";
import { type Snapshot, snapshots } from "../services/shared/metrics/metrics.js";
import { countProcess } from "../services/shared/metrics/process.js";
import { serveMetrics } from "../services/shared/metrics/server.js";
import { openChannel } from "../services/shared/process/channel.js";
import {
  ConfigError,
  helpOf,
  listOf,
  oneOf,
  onOff,
  optional,
  readConfig,
  text,
  url,
} from "../services/shared/process/config.js";
import { createLog } from "../services/shared/process/log.js";
import { allocateAsNew } from "../services/shared/process/new-objects.js";
import { type Addresses, connectRemote } from "../services/shared/rpc/remote.js";
import { readImage } from "../services/shared/tools/image.js";
import { externalIssuerOf, FACADE_OPTIONS } from "./config.js";
import { createFacade } from "./facade.js";
import { facadeOptionsOf } from "./settings.js";

// A façade in a process of its own: everything it needs it asks of services
// elsewhere. Started by itself, or by services/main.ts as one of --workers.

const OPTIONS = {
  ...FACADE_OPTIONS,
  authUrl: {
    doc: "The URL of auth; several URLs, separated by commas, if several processes run auth. If one fails, the next is called.",
    parse: listOf(url),
  },
  catalogueUrl: {
    doc: "The URL of catalogue; several URLs, separated by commas, if several processes run it. If one fails, the next is called.",
    parse: listOf(url),
  },
  platformProxyUrl: {
    doc: "The URL of platform-proxy; several URLs, separated by commas, if several processes run it. If one fails, the next is called.",
    parse: listOf(url),
  },
  coreObjectsUrl: {
    doc: "The URL of core-objects; several URLs, separated by commas, if several processes run it. If one fails, the next is called.",
    parse: listOf(url),
  },
  tracesUrl: {
    doc: "The URL of traces; several URLs, separated by commas, if several processes run it. If one fails, the next is called.",
    parse: listOf(url),
  },
  serviceKey: {
    doc: "The API key that the processes of the service use to call each other; auth writes it to service-key in its data directory.",
    parse: text,
    secret: true,
  },
  keyPrefix: optional({ doc: "The prefix of API keys; slp_ if omitted.", parse: text }),
  sharedPort: {
    doc: "Whether to share the port with other façades on this machine: on or off.",
    parse: onOff,
    fallback: false,
  },
  logLevel: {
    doc: "The lowest level that is logged: debug, info, warn or error.",
    parse: oneOf("debug", "info", "warn", "error"),
    fallback: "info" as const,
  },
};

const GRACE_MS = 10_000;

function settingsOrExit() {
  if (process.argv.includes("--help")) {
    process.stdout.write(helpOf(OPTIONS));
    process.exit(0);
  }
  try {
    return readConfig(OPTIONS, process.argv.slice(2), process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

const settings = settingsOrExit();
const log = createLog(settings.logLevel);
const self = { authorization: `Bearer ${settings.serviceKey}` };
const addresses: Addresses = {
  auth: settings.authUrl,
  catalogue: settings.catalogueUrl,
  "platform-proxy": settings.platformProxyUrl,
  "core-objects": settings.coreObjectsUrl,
  traces: settings.tracesUrl,
};
const dispatch = connectRemote(addresses);
const { keyPrefix } = settings;
// A worker is counted through the process that started it, which may know why neither can serve.
const parent =
  settings.sharedPort && process.send !== undefined ? openChannel(process, { metrics: countedSnapshots }) : undefined;
let asking: Promise<readonly string[]> | undefined;
let isCounted = false;

// A worker does not outlive the process that started it. Until it serves, it has nothing to end in order.
const leave = (): never => process.exit(0);
process.on("disconnect", leave);
if (parent !== undefined && !process.connected) leave();

const image = readImage();
// The process that started it starts the services meanwhile.
await parent?.ask("mayServe", Number.POSITIVE_INFINITY);
const credentials = createCredentials({
  dispatch,
  credential: self,
  log,
  externalIssuer: externalIssuerOf(settings),
  ...(keyPrefix !== undefined && { keyPrefix }),
});
const facade = await createFacade({
  ...facadeOptionsOf(settings, settings.baseUrl ?? `http://${settings.host}:${settings.port}`),
  dispatch,
  self,
  credentials,
  image,
  shares: createShares(callRatesOf(settings)),
  ready,
  log,
});
const metrics =
  settings.metricsPort === undefined
    ? undefined
    : await serveMetrics({
        host: settings.metricsHost,
        port: settings.metricsPort,
        ready,
        take: async () => [{ process: "facade", metrics: await countedSnapshots() }],
      });

/** The process is counted once somebody reads its metrics: to watch the event loop wakes it a hundred times a second. */
async function countedSnapshots(): Promise<readonly Snapshot[]> {
  if (!isCounted) countProcess(ready);
  isCounted = true;
  return snapshots();
}

async function ready(): Promise<readonly string[]> {
  const own = credentials.leased() ? [] : ["auth does not answer"];
  if (parent === undefined) return own;
  // One question for all who ask at the same time: anybody may.
  asking ??= (parent.ask("ready") as Promise<readonly string[]>)
    .catch(() => ["the main process does not answer"])
    .finally(() => {
      asking = undefined;
    });
  return [...new Set([...own, ...(await asking)])];
}

let stopping = false;
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  await facade.drain(GRACE_MS);
  await credentials.close();
  await metrics?.close();
  process.exit(0);
}
process.on("SIGTERM", () => void stop()).on("SIGINT", () => void stop());
process.off("disconnect", leave).on("disconnect", () => void stop());

try {
  await facade.listen(settings.host, settings.port, { exclusive: !settings.sharedPort });
  allocateAsNew();
  // The process that started this one may have ended before the handler above was set.
  process.send?.("listening", undefined, undefined, (error) => {
    if (error !== null) void stop();
  });
  if (process.send === undefined) process.stdout.write(`the façade is ready on ${settings.host}:${settings.port}\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
