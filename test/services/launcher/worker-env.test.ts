import { expect, test } from "vitest";
import { FACADE_OPTIONS } from "../../../facade/config.js";
import { options } from "../../../services/launcher/config.js";
import { workerEnv } from "../../../services/launcher/facade.js";
import { callRatesOfWorker } from "../../../services/shared/limits/settings.js";
import { flagOf, readConfig } from "../../../services/shared/process/config.js";

// A façade worker has no flags: what the process that starts it was told reaches it by its environment.

/** What is given of each setting of a façade; none is what it is if nothing is given. */
const GIVEN: Readonly<Record<keyof typeof FACADE_OPTIONS, string>> = {
  host: "0.0.0.0",
  port: "1234",
  baseUrl: "https://sallyport.example.org",
  serviceName: "Our gateway",
  apiKeyVariable: "OUR_KEY",
  externalAuthorizationServer: '{"issuer":"https://as.example.org","vendor":"rfc9068","email_domains":["a.example"]}',
  mcpCtiUrl: "https://cti.example.org/mcp",
  mcpAevUrl: "https://aev.example.org/mcp",
  mcpGrcUrl: "https://grc.example.org/mcp",
  mcpCoreUrl: "https://core.example.org/mcp",
  allowedOrigins: "https://one.example.org,https://two.example.org",
  allowedHosts: "one.example.org,two.example.org:8443",
  edge: "node",
  trustedProxies: "2",
  maxInFlight: "17",
  maxConnections: "18",
  callTimeoutMs: "19",
  callsPerSecond: "20",
  callBurst: "22",
  userCallsPerSecond: "24",
  userCallBurst: "26",
  badTokensPerMinute: "28",
  slowCallMs: "29",
  metricsPort: "9464",
  metricsHost: "0.0.0.0",
  tracing: "on",
  traceSampleRatio: "0.5",
};
const PLACE = { port: 1234, baseUrl: "https://sallyport.example.org", grpcUrl: "http://127.0.0.1:1", key: "slp_x" };

const { keyPrefix, logLevel } = options;
const OF_WORKER = { ...FACADE_OPTIONS, keyPrefix, logLevel };

test("every setting of a façade reaches its workers, given by a flag or by the environment", () => {
  const given = { ...GIVEN, keyPrefix: "own_", logLevel: "error" };
  const flags = Object.entries(given).map(([name, value]) => `--${flagOf(name)}=${value}`);
  // A flag wins over the environment, which a worker inherits.
  const inherited = { ALLOWED_HOSTS: "other.example.org", MAX_IN_FLIGHT: "99", SERVICE_NAME: "Other" };
  const settings = readConfig(options, [...flags, "--workers=2"], inherited);
  const fallback = readConfig(OF_WORKER, [], {});
  const worker = readConfig(OF_WORKER, [], { ...inherited, ...workerEnv(settings, PLACE) });
  for (const name of Object.keys(OF_WORKER) as (keyof typeof OF_WORKER)[])
    if (name !== "metricsPort") expect(worker[name], name).not.toEqual(fallback[name]);
  // Its metrics are served by the process that starts it.
  const own = { ...readConfig(OF_WORKER, flags, {}), metricsPort: undefined };
  expect(worker).toEqual({ ...own, ...callRatesOfWorker(settings, 2) });
});

test("what is given to nobody is what it is without workers", () => {
  const settings = readConfig(options, ["--workers=2"], {});
  const { port: _port, baseUrl: _baseUrl, ...worker } = readConfig(OF_WORKER, [], workerEnv(settings, PLACE));
  expect({ ...readConfig(OF_WORKER, [], {}), ...callRatesOfWorker(settings, 2) }).toMatchObject(worker);
});
