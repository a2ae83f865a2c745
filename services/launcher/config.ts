import { domainToASCII } from "node:url";
import { FACADE_OPTIONS } from "../../facade/config.js";
import type { AskingAgents } from "../core-objects/runs/asking-agents.js";
import { createKeyFormat, DEFAULT_KEY_PREFIX } from "../shared/credentials/format.js";
import { allowEntry } from "../shared/outgoing/allow-list.js";
import { parsedUrl } from "../shared/parsed-url.js";
import {
  type Config,
  count,
  listOf,
  oneOf,
  onOff,
  optional,
  port,
  positive,
  share,
  text,
  url,
} from "../shared/process/config.js";
import { SERVICE_NAMES } from "../shared/rpc/service.js";
import { parseSealKeys } from "../shared/secrets/seal.js";
import { readIssuer } from "./issuer-setting.js";
import { readModels } from "./model-settings.js";
import { platformOptions } from "./platform-settings.js";
import { readPrefixes } from "./prefix-setting.js";
import { readProviders } from "./provider-settings.js";
import { readHeaders, readReceiver } from "./receiver-setting.js";
import { readWebhook } from "./webhook-setting.js";

/** The most that may be spent on a day, in units of a currency. */
const MAX_AMOUNT = 1_000_000;

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
  lanePort: optional({
    doc: "The port for unary calls between processes of the service (the lane); 0 for any free one. The other processes learn it from the gRPC port. If omitted, a Unix domain socket in a directory of its own, which processes on the same machine use; none if WORKERS is 1. EDGE=node opens none.",
    parse: port,
  }),
  dataDir: { doc: "The data directory: the embedded store and bootstrap.json.", parse: text, fallback: "./data" },
  mongodbUri: optional({
    doc: "The URI of a MongoDB replica set or cluster that keeps the records; the embedded store if omitted.",
    parse: text,
    secret: true,
  }),
  keyPrefix: {
    doc: "The prefix of API keys: 2 to 16 lower-case letters or digits and an underscore.",
    parse: keyPrefix,
    fallback: DEFAULT_KEY_PREFIX,
  },
  leaseMs: {
    doc: "How long a process may use cached permissions without an answer from auth, in milliseconds. A revocation takes at most this long.",
    parse: leaseMs,
    fallback: 3_000,
  },
  emailDomains: optional({
    doc: "The domains of users' e-mail addresses that may act on platforms, separated by commas; any if omitted. A domain does not include its subdomains.",
    parse: listOf(emailDomain),
  }),
  clientDocuments: {
    doc: "Accept OAuth clients that introduce themselves with the URL of a metadata document: on or off. Switch it off if the service cannot call the internet: clients then register.",
    parse: onOff,
    fallback: true,
  },
  idJagIssuers: optional({
    doc: "Identity providers whose identity assertions (ID-JAG) clients exchange for access tokens without a page, separated by commas: the issuer's URL, the algorithms that it signs with, and tenant=NAME if it issues for several companies, such as https://idp.example.com RS256; none if omitted.",
    parse: listOf(readIssuer),
  }),
  signInProviders: optional({
    doc: "The OpenID Connect providers at which people sign in, a JSON list of objects; passwords alone if omitted. docs/sign-in-providers.md has their members and examples.",
    parse: readProviders,
    secret: true,
  }),
  services: {
    doc: "The services that this process runs, separated by commas.",
    parse: listOf(oneOf(...SERVICE_NAMES)),
    fallback: SERVICE_NAMES,
  },
  authUrl: optional({
    doc: "The URL of auth, if this process does not run it; several URLs, separated by commas, if several processes run auth. If one fails, the next is called.",
    parse: listOf(url),
  }),
  catalogueUrl: optional({
    doc: "The URL of catalogue, if this process does not run it; several URLs, separated by commas, if several processes run it. If one fails, the next is called.",
    parse: listOf(url),
  }),
  platformProxyUrl: optional({
    doc: "The URL of platform-proxy, if this process does not run it; several URLs, separated by commas, if several processes run it. If one fails, the next is called.",
    parse: listOf(url),
  }),
  coreObjectsUrl: optional({
    doc: "The URL of core-objects, if this process does not run it; several URLs, separated by commas, if several processes run it. If one fails, the next is called.",
    parse: listOf(url),
  }),
  tracesUrl: optional({
    doc: "The URL of traces, if this process does not run it; several URLs, separated by commas, if several processes run it. If one fails, the next is called.",
    parse: listOf(url),
  }),
  serviceKey: optional({
    doc: "The API key with which the service's processes call each other; DATA_DIR/service-key if omitted.",
    parse: text,
    secret: true,
  }),
  secretsKey: optional({
    doc: "The key that encrypts secrets in the store: 32 bytes in base64url; DATA_DIR/secrets-key if omitted. Previous keys, which only decrypt, follow after commas. All processes of auth and core-objects need the same value.",
    parse: parseSealKeys,
    secret: true,
  }),
  sandbox: { doc: "Run the built-in platforms: on or off.", parse: onOff, fallback: true },
  sandboxLatencyMs: {
    doc: "The delay of every answer of the built-in platforms, in milliseconds. In a load test it separates the time of the service from the time of a platform.",
    parse: count,
    fallback: 0,
  },
  ...platformOptions,
  platformCalls: { doc: "The most calls to one platform at once.", parse: positive, fallback: 256 },
  platformCallsPerKey: {
    doc: "The most calls of one key to one platform at once.",
    parse: positive,
    fallback: 64,
  },
  outgoingAllow: optional({
    doc: "Loopback, private and special-purpose addresses that the service may call (platforms, models, MCP servers, custom tools, sign-in providers), separated by commas: addresses, ranges such as 10.0.0.0/8, or host names, each with or without a port. The platforms that NAME_URL sets and the built-in platforms need no entry.",
    parse: listOf(allowEntry),
  }),
  askBeforeWrites: {
    doc: "The agents whose runs ask their user before they write to the outside (platforms, remote MCP servers, custom tools) after they read text from outside: company (company-managed agents), all or none.",
    parse: oneOf<AskingAgents>("company", "all", "none"),
    fallback: "company" as AskingAgents,
  },
  notificationWebhook: optional({
    doc: "The URL of a Standard Webhooks receiver, and after a space its secret (whsec_ and 24 to 64 bytes in base64; several while it changes): runs that ask or have ended and stopped schedules are sent there. docs/notifications.md says what it gets. Nothing is sent if omitted.",
    parse: readWebhook,
    secret: true,
  }),
  outgoingProxy: optional({
    doc: "The URL of the HTTP proxy through which the service calls platforms, models, MCP servers, custom tools and sign-in providers, with a user name and a password if the proxy needs them. Addresses in OUTGOING_ALLOW and NAME_URL are called directly.",
    parse: proxyUrl,
    secret: true,
  }),
  registrationToken: optional({
    doc: "The token with which a platform registers itself. Only the platform that uses it first can use it again; `platforms create-token` makes more.",
    parse: text,
    secret: true,
  }),
  otlpEndpoint: optional({
    doc: "The OTLP/gRPC URL that receives the service's own spans; the traces service if omitted.",
    parse: url,
  }),
  traceRetentionDays: { doc: "The days for which traces are kept.", parse: count, fallback: 30 },
  auditDays: { doc: "The days for which audit records are kept.", parse: positive, fallback: 400 },
  auditRecords: {
    doc: "The most audit records of each kind: administration, users' changes of their own keys, writes of administrators, writes of others, reads of service accounts for users, refusals. Above it, the oldest records of the user who has the most are deleted.",
    parse: positive,
    fallback: 250_000,
  },
  auditReceivers: optional({
    doc: "Where each audit record is also sent, separated by commas: the URL of an OTLP logs endpoint (https://…/v1/logs), of a syslog receiver over TLS (tls://host:6514), or of a file of JSON lines (file:///path); nowhere if omitted.",
    parse: listOf(readReceiver),
  }),
  auditReceiverHeaders: optional({
    doc: "Headers of requests to OTLP receivers of the audit, name=value, separated by commas, such as Authorization=Bearer abc.",
    parse: readHeaders,
    secret: true,
  }),
  objectsPerUser: { doc: "The most objects, of all kinds, of one user.", parse: positive, fallback: 200_000 },
  objectMegabytesPerUser: {
    doc: "The most mebibytes of objects, of all kinds, of one user.",
    parse: positive,
    fallback: 1_024,
  },
  knowledgeMegabytesPerUser: {
    doc: "The most mebibytes of documents of one user: texts, passages and vectors.",
    parse: positive,
    fallback: 1_024,
  },
  runMegabytesPerUser: {
    doc: "The most mebibytes of runs of one user, with their steps. Above it, the oldest runs that have ended are deleted.",
    parse: positive,
    fallback: 512,
  },
  storedMegabytes: {
    doc: "The most mebibytes of objects and documents of all users together.",
    parse: positive,
    fallback: 51_200,
  },
  runMegabytes: {
    doc: "The most mebibytes of runs of all users together, with their steps.",
    parse: positive,
    fallback: 20_480,
  },
  knowledgeMemoryMegabytes: {
    doc: "The most mebibytes of passages and vectors that a process keeps in memory to search them. The largest knowledge base must fit.",
    parse: positive,
    fallback: 1_024,
  },
  knowledgeWordWeight: {
    doc: "The weight of a question's words in a search of knowledge, from 0 to 1. The rest is the weight of its meaning.",
    parse: share,
    fallback: 0.8,
  },
  models: optional({
    doc: "The prices and windows of models that runs ask, a JSON object: currency, and models by name, each with input, output and cached (prices of a million tokens) and window (tokens); unknown if omitted. docs/models.md has an example.",
    parse: readModels,
  }),
  modelTokensPerUserPerDay: optional({
    doc: "The most tokens that the runs of one user may take of models on a day (UTC); any number if omitted.",
    parse: positive,
  }),
  modelCostPerUserPerDay: optional({
    doc: "The most that the runs of one user may cost on a day (UTC), in the currency of MODELS; any amount if omitted.",
    parse: amount,
  }),
  modelTokensPerDay: optional({
    doc: "The most tokens that the runs of all users together may take on a day (UTC) through company-managed integrations; any number if omitted.",
    parse: positive,
  }),
  modelCostPerDay: optional({
    doc: "The most that the runs of all users together may cost on a day (UTC) through company-managed integrations, in the currency of MODELS; any amount if omitted.",
    parse: amount,
  }),
  embeddingPrefixes: optional({
    doc: 'Texts that the service adds before questions and passages for the embedding models of integrations, by model, as JSON: {"my-e5": {"query": "query: ", "passage": "passage: "}}. The prefixes of E5, BGE, Nomic, Snowflake Arctic, mxbai and EmbeddingGemma are known by the names of the models; a model named here has these instead.',
    parse: readPrefixes,
  }),
  traceSpansPerUser: { doc: "The most spans of one user.", parse: positive, fallback: 1_000_000 },
  traceMegabytesPerUser: {
    doc: "The most mebibytes of spans of one user.",
    parse: positive,
    fallback: 2_048,
  },
  traceMegabytes: {
    doc: "The most mebibytes of spans of all users and of the service together.",
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

function amount(value: string): number {
  const number = Number(value);
  if (!(number > 0 && number <= MAX_AMOUNT)) throw new Error(`must be a number above 0 and at most ${MAX_AMOUNT}`);
  return number;
}

function proxyUrl(value: string): string {
  const {
    pathname = "",
    search = "",
    hash = "",
    hostname = "",
  } = parsedUrl(value) === undefined ? {} : new URL(url(value));
  if (hostname === "" || pathname !== "/" || search + hash !== "")
    throw new Error("must be a URL with only a scheme, a host and a port, such as http://proxy.example.com:3128");
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
