import type { FileRegistry } from "@bufbuild/protobuf";
import { AuditService } from "#proto/auth/v1/audit_service_pb.js";
import { externalIssuerOf, publicUrlsOf } from "../../facade/config.js";
import type { ConfiguredPlatforms } from "../catalogue/platforms.js";
import type { DayLimits } from "../core-objects/runs/spending/day-limits.js";
import { createAuditor } from "../shared/audit/auditor.js";
import { createAssertionVerifier } from "../shared/credentials/assertions.js";
import { type Credentials, createCredentials } from "../shared/credentials/credentials.js";
import type { Shares } from "../shared/limits/shares.js";
import type { Log } from "../shared/process/log.js";
import { createProcesses } from "../shared/process/processes.js";
import { VERSION } from "../shared/process/version.js";
import type { Authenticator, Credential } from "../shared/rpc/call.js";
import type { Chain } from "../shared/rpc/chain.js";
import { unavailable } from "../shared/rpc/errors.js";
import { mountInProcess } from "../shared/rpc/in-process.js";
import type { Method } from "../shared/rpc/method.js";
import { createPeers, type Peers } from "../shared/rpc/peers.js";
import type { AuthenticatingService, Service, ServiceName } from "../shared/rpc/service.js";
import type { Store } from "../shared/store/store.js";
import { readTools } from "../shared/tools/tools.js";
import type { Settings } from "./config.js";
import { outgoingOf, platformPolicyOf } from "./outgoing.js";
import { authenticationsOf } from "./platforms.js";
import { openSeal } from "./private-files.js";
import type { Routing } from "./routing.js";
import { unansweredTool } from "./unanswered-tools.js";

/** What the services of a process are started with. */
export interface Surroundings {
  readonly settings: Settings;
  readonly store: Store;
  readonly routing: Routing;
  readonly image: FileRegistry;
  /** This process's own credential, read when first needed: auth makes it at its first start. */
  readonly self: () => Credential;
  /** Built-in platforms start beside the services: only those that call platforms wait for them. */
  readonly platforms: Promise<ConfiguredPlatforms>;
  readonly baseUrl: string;
  readonly shares: Shares;
  readonly observe: Chain["observe"];
  readonly log: Log;
}

/** The services that run in this process. */
export interface LocalServices {
  readonly credentials: Credentials;
  readonly methods: readonly { readonly method: Method; readonly steps: Chain }[];
  /** Why this process cannot serve; empty when it can. */
  ready(): Promise<readonly string[]>;
  /** Why a service cannot serve, by the name of one of its proto services; "" for any. */
  readyOf(protoService: string): Promise<string | undefined> | undefined;
  close(): Promise<void>;
}

/** Starts the services of this process and mounts them: auth first, since every other one asks it who is calling. */
export async function startLocalServices(around: Surroundings): Promise<LocalServices> {
  const { settings, store, routing, self, shares, observe, log } = around;
  const services: Service[] = [];
  const methods: { method: Method; steps: Chain }[] = [];
  let peers: Peers | undefined;
  let record: AuthenticatingService["recordAudit"] = async () => {
    throw unavailable("this process is starting: try again shortly");
  };
  const audit = createAuditor({ log, send: (request) => record(request) });

  function mount(service: Service, authenticator: Authenticator): void {
    const own = { authenticator, log: log.child({ service: service.name }), shares, audit };
    const steps: Chain = { ...own, ...(observe && { observe }) };
    services.push(service);
    methods.push(...service.methods.map((method) => ({ method, steps })));
    routing.mount(service.name, mountInProcess(service.methods, steps));
  }

  if (settings.services.includes("auth")) {
    const { baseUrl } = around;
    const { emailDomains, keyPrefix, leaseMs } = settings;
    const seal = openSeal(settings.secretsKey, settings.dataDir);
    const { createAuthService } = await import("../auth/service.js");
    const auth = await createAuthService({
      store,
      seal,
      baseUrl,
      log,
      emailDomains,
      keyPrefix,
      leaseMs,
      publicUrls: publicUrlsOf(settings),
      serviceName: settings.serviceName,
      outgoing: outgoingOf(settings),
      clientDocuments: settings.clientDocuments,
      ...(settings.idJagIssuers && { idJagIssuers: settings.idJagIssuers }),
      ...(settings.externalAuthorizationServer && { external: settings.externalAuthorizationServer }),
      ...(settings.signInProviders && { signInProviders: settings.signInProviders }),
      auditor: audit,
      auditBounds: { days: settings.auditDays, records: settings.auditRecords },
      ...(settings.auditReceivers && {
        auditExport: {
          receivers: settings.auditReceivers,
          headers: settings.auditReceiverHeaders ?? {},
          serviceName: settings.serviceName,
        },
      }),
      peersOf: () => peers,
    });
    mount(auth, auth.authenticator);
    record = (request) => auth.recordAudit(request);
  }
  const credential = self();
  const calls = createPeers(routing, credential);
  peers = calls;
  if (!settings.services.includes("auth"))
    record = async (request) => (await calls.callAsService(AuditService.method.recordAudit, request)).numbers;
  const credentials = createCredentials({
    ...{ dispatch: routing, credential, log, keyPrefix: settings.keyPrefix },
    externalIssuer: externalIssuerOf(settings),
  });
  for (const name of settings.services) {
    if (name === "auth") continue;
    const service = await createService(name, { ...around, peers, credentials });
    mount(service, createAssertionVerifier({ service: name, credentials, dispatch: routing, credential }));
  }

  const unanswered = unansweredTool(
    around.image,
    settings.services,
    methods.map(({ method }) => method.desc),
  );
  if (unanswered !== undefined) throw new Error(unanswered);

  const ready = async (): Promise<readonly string[]> => {
    const reasons = await Promise.all(services.map((service) => service.ready()));
    const lease = credentials.leased() ? undefined : "auth does not answer";
    return [store.unwritable(), ...reasons, lease].filter((reason) => reason !== undefined);
  };
  return {
    credentials,
    methods,
    ready,
    readyOf(protoService) {
      if (protoService === "") return ready().then((reasons) => reasons[0]);
      const isOwn = ({ desc }: Method): boolean => desc.parent.typeName === protoService;
      return services.find((service) => service.methods.some(isOwn))?.ready();
    },
    async close() {
      // While auth still serves.
      await audit.close();
      await credentials.close();
      for (const service of services.toReversed()) await service.close();
    },
  };
}

type Needs = Surroundings & { readonly peers: Peers; readonly credentials: Credentials };

function dayLimitsOf(settings: Settings): DayLimits {
  const limit = (tokens: number | undefined, cost: number | undefined) => ({
    ...(tokens !== undefined && { tokens }),
    ...(cost !== undefined && { nanos: Math.round(cost * 1e9) }),
  });
  return {
    user: limit(settings.modelTokensPerUserPerDay, settings.modelCostPerUserPerDay),
    deployment: limit(settings.modelTokensPerDay, settings.modelCostPerDay),
  };
}

/** Loads a service and starts it; one that does not run here is not loaded. */
async function createService(name: Exclude<ServiceName, "auth">, around: Needs): Promise<Service> {
  const { settings, store, image, peers, credentials, platforms, baseUrl, log } = around;
  switch (name) {
    case "catalogue": {
      const { createCatalogueService } = await import("../catalogue/service.js");
      const { registrationToken } = settings;
      const configured = await platforms;
      return createCatalogueService({
        store,
        peers,
        log,
        tools: readTools(image),
        configured,
        authentications: authenticationsOf(settings),
        outgoing: platformPolicyOf(settings, configured),
        registrationToken,
        homepage: baseUrl,
        serviceName: settings.serviceName,
        urlOf: (server) => publicUrlsOf(settings)[server] ?? `${baseUrl.replace(/\/+$/, "")}/mcp/${server}`,
      });
    }
    case "platform-proxy": {
      const { createPlatformProxyService } = await import("../platform-proxy/service.js");
      const { loadPlatforms } = await import("../platform-proxy/parts.js");
      return createPlatformProxyService({
        peers,
        log,
        platforms: await loadPlatforms(readTools(image)),
        outgoing: platformPolicyOf(settings, await platforms),
        slots: { perPlatform: settings.platformCalls, perKey: settings.platformCallsPerKey },
        slowMs: settings.slowCallMs,
        agentName: `sallyport/${VERSION}`,
        onEvent: (listener) => credentials.onEvent(listener),
      });
    }
    case "core-objects": {
      const processes = createProcesses();
      processes.prepare();
      const { createCoreObjectsService } = await import("../core-objects/service.js");
      const quota = {
        objects: settings.objectsPerUser,
        bytes: settings.objectMegabytesPerUser * 2 ** 20,
        knowledge: settings.knowledgeMegabytesPerUser * 2 ** 20,
        runs: settings.runMegabytesPerUser * 2 ** 20,
        deployment: settings.storedMegabytes * 2 ** 20,
        deploymentRuns: settings.runMegabytes * 2 ** 20,
      };
      const seal = openSeal(settings.secretsKey, settings.dataDir);
      const knowledge = {
        lexicalWeight: settings.knowledgeWordWeight,
        prefixes: settings.embeddingPrefixes,
        memoryMegabytes: settings.knowledgeMemoryMegabytes,
      };
      const webhook = settings.notificationWebhook;
      const runs = { tools: readTools(image), asking: settings.askBeforeWrites };
      const outgoing = outgoingOf(settings);
      const needs = {
        store,
        peers,
        log,
        seal,
        outgoing,
        processes,
        webhook,
        ...(settings.models && { models: settings.models }),
      };
      const dayLimits = dayLimitsOf(settings);
      return createCoreObjectsService({ ...needs, dayLimits, quota, knowledge, runs });
    }
    case "traces": {
      const { createTracesService } = await import("../traces/service.js");
      const { traceRetentionDays: retentionDays, traceSpansPerUser: spans } = settings;
      const quota = {
        spans,
        bytes: settings.traceMegabytesPerUser * 2 ** 20,
        deploymentBytes: settings.traceMegabytes * 2 ** 20,
      };
      return createTracesService({ store, peers, log, retentionDays, quota });
    }
  }
}
