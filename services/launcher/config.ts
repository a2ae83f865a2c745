import { domainToASCII } from "node:url";
import { FACADE_OPTIONS } from "../../facade/config.js";
import { createKeyFormat, DEFAULT_KEY_PREFIX } from "../shared/credentials/format.js";
import { allowEntry } from "../shared/outgoing/allow-list.js";
import {
  type Config,
  count,
  listOf,
  oneOf,
  onOff,
  optional,
  port,
  positive,
  text,
  url,
} from "../shared/process/config.js";
import { SERVICE_NAMES } from "../shared/rpc/service.js";
import { parseSealKeys } from "../shared/secrets/seal.js";
import { platformOptions } from "./platform-settings.js";

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
    doc: "A MongoDB replica set or cluster to keep records in; the embedded store if omitted.",
    parse: text,
    secret: true,
  }),
  keyPrefix: {
    doc: "The prefix of API keys: 2 to 16 lower-case letters or digits and an underscore.",
    parse: keyPrefix,
    fallback: DEFAULT_KEY_PREFIX,
  },
  leaseMs: {
    doc: "How long a process may use what it keeps without hearing from auth, in milliseconds: the longest a revocation can take.",
    parse: leaseMs,
    fallback: 3_000,
  },
  emailDomains: optional({
    doc: "The domains that users' e-mail addresses may be of, separated by commas, each without those below it; any if omitted. Users of other domains cannot act on any platform.",
    parse: listOf(emailDomain),
  }),
  services: {
    doc: "The services this process runs, separated by commas.",
    parse: listOf(oneOf(...SERVICE_NAMES)),
    fallback: SERVICE_NAMES,
  },
  authUrl: optional({ doc: "The URL of auth, if this process does not run it.", parse: url }),
  catalogueUrl: optional({ doc: "The URL of catalogue, if this process does not run it.", parse: url }),
  platformProxyUrl: optional({ doc: "The URL of platform-proxy, if this process does not run it.", parse: url }),
  coreObjectsUrl: optional({ doc: "The URL of core-objects, if this process does not run it.", parse: url }),
  tracesUrl: optional({ doc: "The URL of traces, if this process does not run it.", parse: url }),
  serviceKey: optional({
    doc: "The API key by which our processes call each other; DATA_DIR/service-key if omitted.",
    parse: text,
    secret: true,
  }),
  secretsKey: optional({
    doc: "The key that encrypts secrets in the store: 32 bytes in base64url. After a comma, the previous keys, which still decrypt; DATA_DIR/secrets-key if omitted. The same for all processes of auth and core-objects.",
    parse: parseSealKeys,
    secret: true,
  }),
  sandbox: { doc: "Run the built-in platforms: on or off.", parse: onOff, fallback: true },
  ...platformOptions,
  platformCalls: { doc: "Calls that may be under way at one platform.", parse: positive, fallback: 256 },
  platformCallsPerKey: {
    doc: "Calls of one key that may be under way at one platform.",
    parse: positive,
    fallback: 64,
  },
  outgoingAllow: optional({
    doc: "Loopback, private and special-purpose addresses that platforms, models, MCP servers and custom tools may be called at, separated by commas: addresses, ranges such as 10.0.0.0/8, and host names, an address or a name with a port or without. Those that NAME_URL sets, and the built-in platforms, are called without.",
    parse: listOf(allowEntry),
  }),
  outgoingProxy: optional({
    doc: "The HTTP proxy through which platforms, models, MCP servers and custom tools are called, but for what OUTGOING_ALLOW and NAME_URL name: a URL, with a user name and a password if the proxy needs them.",
    parse: proxyUrl,
    secret: true,
  }),
  registrationToken: optional({
    doc: "The token that a platform registers itself with. After its first use it belongs to that platform alone; `platforms create-token` makes more.",
    parse: text,
    secret: true,
  }),
  tracing: { doc: "Trace our own requests with OpenTelemetry: on or off.", parse: onOff, fallback: false },
  otlpEndpoint: optional({ doc: "Where our own spans go (OTLP/gRPC); the traces service if omitted.", parse: url }),
  traceSampleRatio: {
    doc: "The share of our own requests that is traced, from 0 to 1; a caller's own decision comes first.",
    parse: share,
    fallback: 1,
  },
  traceRetentionDays: { doc: "How long traces are kept, in days.", parse: count, fallback: 30 },
  auditDays: { doc: "How long records of the audit are kept, in days.", parse: positive, fallback: 400 },
  auditRecords: {
    doc: "Records of the audit that are kept of each kind: administration, users' changes of their own keys, writes of administrators, writes of others, refusals. Beyond it, the oldest of the user who has the most give way.",
    parse: positive,
    fallback: 250_000,
  },
  objectsPerUser: { doc: "Objects, of all kinds, that one user may have.", parse: positive, fallback: 200_000 },
  objectMegabytesPerUser: {
    doc: "Mebibytes of objects, of all kinds, that one user may have.",
    parse: positive,
    fallback: 1_024,
  },
  knowledgeMegabytesPerUser: {
    doc: "Mebibytes of documents that one user may have: texts, passages and vectors.",
    parse: positive,
    fallback: 1_024,
  },
  runMegabytesPerUser: {
    doc: "Mebibytes of runs with their steps that are kept of one user; the oldest that ended give way.",
    parse: positive,
    fallback: 512,
  },
  storedMegabytes: {
    doc: "Mebibytes of objects and documents that all users may have together.",
    parse: positive,
    fallback: 51_200,
  },
  runMegabytes: {
    doc: "Mebibytes of runs with their steps that are kept of all users together.",
    parse: positive,
    fallback: 20_480,
  },
  knowledgeMemoryMegabytes: {
    doc: "Mebibytes of passages and vectors that a process keeps in memory to search them; at least as much as the largest knowledge base.",
    parse: positive,
    fallback: 1_024,
  },
  knowledgeWordWeight: {
    doc: "How much the words of a question count when knowledge is searched, from 0 to 1; the rest is for its meaning.",
    parse: share,
    fallback: 0.25,
  },
  traceSpansPerUser: { doc: "Spans that are kept of one user at a time.", parse: positive, fallback: 1_000_000 },
  traceMegabytesPerUser: {
    doc: "Mebibytes of spans that are kept of one user at a time.",
    parse: positive,
    fallback: 2_048,
  },
  traceMegabytes: {
    doc: "Mebibytes of spans that are kept of all users and of our own services together.",
    parse: positive,
    fallback: 51_200,
  },
  logLevel: {
    doc: "The lowest level that is logged: debug, info, warn or error.",
    parse: oneOf("debug", "info", "warn", "error"),
    fallback: "info" as const,
  },
};

/** The settings as they were read. */
export type Settings = Config<typeof options>;

function share(value: string): number {
  const number = Number(value);
  if (!(number >= 0 && number <= 1)) throw new Error("must be a number from 0 to 1");
  return number;
}

function proxyUrl(value: string): string {
  const { pathname = "", search = "", hash = "", hostname = "" } = URL.canParse(value) ? new URL(url(value)) : {};
  if (hostname === "" || pathname !== "/" || search + hash !== "")
    throw new Error("must be a URL of a scheme, a host and a port, such as http://proxy.example.com:3128");
  return value;
}

function emailDomain(value: string): string {
  const domain = domainToASCII(value.toLowerCase());
  if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(domain)) throw new Error("must be domains such as example.org");
  return domain;
}

function keyPrefix(value: string): string {
  createKeyFormat(value);
  return value;
}

function leaseMs(value: string): number {
  const ms = Number(value);
  if (!Number.isInteger(ms) || ms < 100 || ms > 60_000) throw new Error("must be 100 to 60000 milliseconds");
  return ms;
}
