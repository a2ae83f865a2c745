import { type Config, count, listOf, oneOf, onOff, optional, port, text, url } from "./shared/config.js";
import { SERVICE_NAMES } from "./shared/service.js";

/** Every setting of the process that runs the services, and by default a façade worker with them. */
export const options = {
  host: { doc: "The address to listen on.", parse: text, fallback: "127.0.0.1" },
  port: { doc: "The port of the façade; 0 for any free one.", parse: port, fallback: 8080 },
  grpcPort: {
    doc: "The port that speaks gRPC, gRPC-Web and Connect; 0 for any free one.",
    parse: port,
    fallback: 50051,
  },
  dataDir: { doc: "Where the embedded store and bootstrap.json are.", parse: text, fallback: "./data" },
  baseUrl: optional({ doc: "The public base URL; http://HOST:PORT where left out.", parse: url }),
  mongodbUri: optional({
    doc: "A MongoDB replica set or cluster to keep records in; the embedded store where left out.",
    parse: text,
    secret: true,
  }),
  serviceName: { doc: "The name that users see.", parse: text, fallback: "Sallyport" },
  keyPrefix: { doc: "What API keys begin with; fixed for the life of a deployment.", parse: text, fallback: "slp_" },
  workers: {
    doc: "Façade workers: 1 runs in this process, more run in processes of their own, 0 runs none.",
    parse: count,
    fallback: 1,
  },
  services: { doc: "The services this process runs.", parse: listOf(oneOf(...SERVICE_NAMES)), fallback: SERVICE_NAMES },
  authUrl: optional({ doc: "Where auth listens, where this process does not run it.", parse: url }),
  catalogueUrl: optional({ doc: "Where catalogue listens, where this process does not run it.", parse: url }),
  platformProxyUrl: optional({ doc: "Where platform-proxy listens, where this process does not run it.", parse: url }),
  coreObjectsUrl: optional({ doc: "Where core-objects listens, where this process does not run it.", parse: url }),
  tracesUrl: optional({ doc: "Where traces listens, where this process does not run it.", parse: url }),
  serviceKey: optional({
    doc: "The API key by which this process calls an auth service elsewhere.",
    parse: text,
    secret: true,
  }),
  leaseMs: {
    doc: "How long a process may use what it keeps about credentials without hearing from auth, in milliseconds.",
    parse: count,
    fallback: 3000,
  },
  sandbox: { doc: "Run the three built-in platforms: on or off.", parse: onOff, fallback: true },
  ctiUrl: optional({ doc: "The address of the platform behind cti, in place of the built-in one.", parse: url }),
  ctiPublicUrl: optional({
    doc: "What that platform calls itself, the audience of its tokens; CTI_URL where left out.",
    parse: url,
  }),
  aevUrl: optional({ doc: "The address of the platform behind aev, in place of the built-in one.", parse: url }),
  aevPublicUrl: optional({
    doc: "What that platform calls itself, the audience of its tokens; AEV_URL where left out.",
    parse: url,
  }),
  grcUrl: optional({ doc: "The address of the platform behind grc, in place of the built-in one.", parse: url }),
  grcPublicUrl: optional({
    doc: "What that platform calls itself, the audience of its tokens; GRC_URL where left out.",
    parse: url,
  }),
  grcAuth: {
    doc: "How that platform takes our token: exchange or bearer.",
    parse: oneOf("exchange", "bearer"),
    fallback: "exchange" as const,
  },
  grcClientId: optional({
    doc: "The client id of the exchange; the platform's public URL where left out.",
    parse: text,
  }),
  registrationToken: optional({ doc: "What a platform presents to register itself.", parse: text, secret: true }),
  allowedOrigins: {
    doc: "Origins of browsers that may call, separated by commas.",
    parse: listOf(text),
    fallback: [] as readonly string[],
  },
  mcpCtiUrl: optional({
    doc: "A public URL of its own for the cti endpoint, such as https://cti.example.com/mcp.",
    parse: url,
  }),
  mcpAevUrl: optional({ doc: "A public URL of its own for the aev endpoint.", parse: url }),
  mcpGrcUrl: optional({ doc: "A public URL of its own for the grc endpoint.", parse: url }),
  mcpCoreUrl: optional({ doc: "A public URL of its own for the core endpoint.", parse: url }),
  tracing: { doc: "Trace our own requests with OpenTelemetry: on or off.", parse: onOff, fallback: false },
  otlpEndpoint: optional({ doc: "Where our own spans go (OTLP/gRPC); the traces service where left out.", parse: url }),
  traceRetentionDays: { doc: "How long traces are kept, in days.", parse: count, fallback: 30 },
  logLevel: {
    doc: "What is logged: debug, info, warn or error.",
    parse: oneOf("debug", "info", "warn", "error"),
    fallback: "warn" as const,
  },
};

export type Settings = Config<typeof options>;
