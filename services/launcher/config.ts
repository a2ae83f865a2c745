import { FACADE_OPTIONS } from "../../facade/config.js";
import { authOptions } from "../auth/config.js";
import { type Config, count, listOf, oneOf, onOff, optional, port, text, url } from "../shared/process/config.js";
import { SERVICE_NAMES } from "../shared/rpc/service.js";

/** Every setting of the process that runs the services, and by default a façade worker with them. */
export const options = {
  ...FACADE_OPTIONS,
  workers: {
    doc: "Façade workers: 1 runs in this process, more run in processes of their own, 0 runs none.",
    parse: count,
    fallback: 1,
  },
  grpcPort: {
    doc: "The port that speaks gRPC, gRPC-Web and Connect; 0 for any free one.",
    parse: port,
    fallback: 50051,
  },
  dataDir: { doc: "Where the embedded store and bootstrap.json are.", parse: text, fallback: "./data" },
  mongodbUri: optional({
    doc: "A MongoDB replica set or cluster to keep records in; the embedded store where left out.",
    parse: text,
    secret: true,
  }),
  ...authOptions,
  services: {
    doc: "The services this process runs, separated by commas.",
    parse: listOf(oneOf(...SERVICE_NAMES)),
    fallback: SERVICE_NAMES,
  },
  authUrl: optional({ doc: "Where auth listens, where this process does not run it.", parse: url }),
  catalogueUrl: optional({ doc: "Where catalogue listens, where this process does not run it.", parse: url }),
  platformProxyUrl: optional({ doc: "Where platform-proxy listens, where this process does not run it.", parse: url }),
  coreObjectsUrl: optional({ doc: "Where core-objects listens, where this process does not run it.", parse: url }),
  tracesUrl: optional({ doc: "Where traces listens, where this process does not run it.", parse: url }),
  serviceKey: optional({
    doc: "The API key by which our processes call each other; DATA_DIR/service-key where left out.",
    parse: text,
    secret: true,
  }),
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
  tracing: { doc: "Trace our own requests with OpenTelemetry: on or off.", parse: onOff, fallback: false },
  otlpEndpoint: optional({ doc: "Where our own spans go (OTLP/gRPC); the traces service where left out.", parse: url }),
  traceSampleRatio: {
    doc: "The share of our own requests that is traced, from 0 to 1; a caller's own decision comes first.",
    parse: share,
    fallback: 1,
  },
  traceRetentionDays: { doc: "How long traces are kept, in days.", parse: count, fallback: 30 },
  logLevel: {
    doc: "What is logged: debug, info, warn or error.",
    parse: oneOf("debug", "info", "warn", "error"),
    fallback: "info" as const,
  },
};

export type Settings = Config<typeof options>;

function share(value: string): number {
  const number = Number(value);
  if (!(number >= 0 && number <= 1)) throw new Error("must be a number from 0 to 1");
  return number;
}
