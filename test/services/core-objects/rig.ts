import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { pino } from "pino";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { DelegationService } from "#proto/auth/v1/delegation_service_pb.js";
import { DirectoryService } from "#proto/auth/v1/directory_service_pb.js";
import { WatchService } from "#proto/auth/v1/watch_service_pb.js";
import { EndpointAvailability, EndpointService } from "#proto/catalogue/v1/endpoint_service_pb.js";
import type { KnowledgeOptions } from "../../../services/core-objects/knowledge/knowledge.js";
import type { ObjectQuota } from "../../../services/core-objects/room.js";
import { createCoreObjectsService, type Options } from "../../../services/core-objects/service.js";
import type { OutgoingPolicy } from "../../../services/shared/outgoing/policy.js";
import { type Log, silentLog } from "../../../services/shared/process/log.js";
import type { Authenticator, Caller, Credential } from "../../../services/shared/rpc/call.js";
import type { Chain } from "../../../services/shared/rpc/chain.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { permissionDenied, unauthenticated, unavailable } from "../../../services/shared/rpc/errors.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import { unary } from "../../../services/shared/rpc/method.js";
import { createPeers, type Peers } from "../../../services/shared/rpc/peers.js";
import { type Service, type ServiceName, serviceOf } from "../../../services/shared/rpc/service.js";
import { createSeal, newSealKey, parseSealKeys, type Seal } from "../../../services/shared/secrets/seal.js";
import { openEmbeddedStore } from "../../../services/shared/store/embedded/embedded.js";
import { openMongoStore } from "../../../services/shared/store/mongo.js";
import type { Store } from "../../../services/shared/store/store.js";
import type { Tool } from "../../../services/shared/tools/tools.js";
import { LOOPBACK } from "../../support/outgoing.js";

// Services as they run in one process, with people whose assertions are plain
// words: "alice@core-objects" is alice's for that service alone, "alice/RUN@core-objects" that of her run. A bearer token
// "key-alice" is her API key.

/** Seals what is secret of objects; a process that another one starts is given the same. */
export const SEAL_KEYS = process.env.TEST_SEAL_KEYS ?? newSealKey();
export const SEAL: Seal = createSeal(parseSealKeys(SEAL_KEYS));

const SCOPES = ["account", "delegated", "core:read", "core:write", "traces:write"];

function person(id: string, groups: readonly string[], admin = false): Caller {
  const scopes = new Set(admin ? [...SCOPES, "admin"] : SCOPES);
  return { id, email: `${id}@example.com`, name: id, admin, groups, scopes, keyId: "", service: false };
}

const PEOPLE: Readonly<Record<string, Caller>> = {
  alice: person("alice", ["soc"]),
  bob: person("bob", ["soc"]),
  carl: person("carl", []),
  root: person("root", [], true),
  services: { ...person("services", []), scopes: new Set(["internal", "account", "traces:write"]), service: true },
  reader: { ...person("reader", []), scopes: new Set(["account", "delegated", "core:read"]) },
};

/** What a person presents to a service. */
export function as(who: string, service: ServiceName = "core-objects"): { credential: Credential } {
  return { credential: { assertion: `${who}@${service}` } };
}

export function authenticatorFor(service: ServiceName): Authenticator {
  return {
    authenticate({ assertion, authorization }) {
      const [said = "", audience] = assertion?.split("@") ?? [authorization?.replace(/^Bearer key-/, ""), service];
      const [who = "", run] = said.split("/");
      const caller = audience === service ? PEOPLE[who] : undefined;
      if (caller === undefined) throw unauthenticated("this credential is not known");
      return { caller: run === undefined ? caller : { ...caller, run }, assertion: `${said}@${service}` };
    },
  };
}

const exchange = unary(CredentialService.method.exchangeAssertion, ({ subjectToken, audience }) => ({
  assertion: `${subjectToken.split("@")[0]}@${audience}`,
  expiresAt: timestampFromMs(Date.now() + 60_000),
}));

const { createDelegation, exchangeDelegation, endDelegation } = DelegationService.method;

/** Delegations as auth keeps them: "alice#2" stands for alice until it is ended, or somebody here is no longer good. */
export function delegations() {
  const ended = new Set<string>();
  const refusals = new Map<string, string>();
  let made = 0;
  return {
    /** From now on what stands for a person, or for one run, is refused with these words; undefined for no longer. */
    refuse(who: string, words: string | undefined): void {
      if (words === undefined) refusals.delete(who);
      else refusals.set(who, words);
    },
    methods: [
      unary(createDelegation, ({ subjectToken, withoutKey, scheduleId }) => {
        const who = subjectToken.split("@")[0] as string;
        if (who.includes("/")) throw permissionDenied("a run begins no other run");
        const key = { id: `${who}-key`, name: "laptop" };
        return { delegation: `${who}#${made++}${withoutKey ? "" : "#key"}`, ...(scheduleId !== "" && { key }) };
      }),
      unary(exchangeDelegation, ({ delegation, audience, run }) => {
        const who = delegation.split("#")[0] as string;
        const caller = PEOPLE[who];
        const refusal =
          ended.has(delegation) || caller === undefined ? "it has ended" : (refusals.get(run) ?? refusals.get(who));
        if (refusal !== undefined) throw unauthenticated(refusal);
        const { groups, scopes, ...rest } = caller!;
        return {
          assertion: `${run === "" ? who : `${who}/${run}`}@${audience}`,
          expiresAt: timestampFromMs(Date.now() + 60_000),
          caller: { ...rest, groups: [...groups], scopes: [...scopes] },
        };
      }),
      unary(endDelegation, ({ delegation }) => {
        ended.add(delegation);
        return {};
      }),
    ],
  };
}

/** As the catalogue does: every tool is visible to everyone, and servers are open unless they are said to be closed. */
function catalogueOf(closed: ReadonlyMap<string, EndpointAvailability>, tools: readonly Tool[]) {
  const servers = ["cti", "aev", "grc", "core"];
  return [
    unary(EndpointService.method.getEndpointStates, () => ({
      endpoints: servers.map((server) => ({ server, availability: closed.get(server) ?? EndpointAvailability.OPEN })),
    })),
    unary(EndpointService.method.listVisibleTools, ({ server }) => ({
      tools: tools.filter((tool) => tool.server === server).map(({ name }) => name),
    })),
  ];
}

const GROUPS: ReadonlySet<string> = new Set(["group:soc"]);

/** As auth does: people by id or e-mail address. */
const resolve = unary(DirectoryService.method.resolvePrincipals, ({ names }) => {
  const found = names.flatMap((name) => {
    const id = name.replace(/^user:/, "").replace(/@example\.com$/, "");
    if (GROUPS.has(name)) return [[name, name]];
    return name.startsWith("user:") && PEOPLE[id] !== undefined ? [[name, `user:${id}`]] : [];
  });
  return { principals: Object.fromEntries(found) };
});

const memberships = unary(DirectoryService.method.getMemberships, ({ userId }) => ({
  groupIds: [...(PEOPLE[userId]?.groups ?? [])],
}));

export interface Rig {
  readonly store: Store;
  readonly peers: Peers;
  readonly dispatch: Dispatch;
  readonly delegations: ReturnType<typeof delegations>;
  /** What is switched off, by server: the catalogue says it to who asks. */
  readonly closed: Map<string, EndpointAvailability>;
  /** Whose reach was told to have changed so far, in order. */
  readonly told: string[];
  /** Adds a running service to those that are called. */
  add(service: Service, observe?: Chain["observe"]): void;
  close(): Promise<void>;
}

/**
 * A store of its own (embedded, or in the MongoDB that MONGODB_URI names), core-objects in front of it, and room for
 * more services. Closing it fails when any query was not covered by an index.
 */
export async function startRig({
  sweepEveryMs,
  quota,
  knowledge,
  runs,
  models,
  dayLimits,
  folder: kept,
  store: given,
  outgoing = LOOPBACK,
  log: heard = silentLog,
  webhook,
  webhookPace,
}: Pick<Options, "webhook" | "webhookPace"> & {
  sweepEveryMs?: number;
  /** One that somebody else closes, in place of a new one. */
  store?: Store;
  outgoing?: OutgoingPolicy;
  /** Of core-objects. */
  log?: Log;
  quota?: Partial<ObjectQuota>;
  knowledge?: KnowledgeOptions;
  /** Executes runs, with these tools. */
  runs?: Options["runs"];
  /** What is known of models. */
  models?: Options["models"];
  dayLimits?: Options["dayLimits"];
  /** Where the store is, which then stays there. */
  folder?: string;
} = {}): Promise<Rig> {
  const folder = kept ?? (await mkdtemp(join(tmpdir(), "core-")));
  const uncovered: string[] = [];
  const log = pino({ level: "warn" }, { write: (line) => void uncovered.push(line) });
  const uri = process.env.MONGODB_URI;
  const store =
    given ??
    (uri === undefined
      ? await openEmbeddedStore(folder, { log, ...(sweepEveryMs !== undefined && { sweepEveryMs }) })
      : await openMongoStore(uri, { database: `core-${randomUUID()}` }));
  const mounted = new Map<ServiceName, Dispatch>();
  const services: Service[] = [];
  const mount = (name: ServiceName, methods: Service["methods"], observe?: Chain["observe"]) =>
    mounted.set(
      name,
      mountInProcess(methods, { authenticator: authenticatorFor(name), log: silentLog, ...(observe && { observe }) }),
    );
  const to = (method: Parameters<Dispatch["unary"]>[0]): Dispatch => {
    const found = mounted.get(serviceOf(method) as ServiceName);
    if (found === undefined) throw unavailable(`${method.parent.typeName} does not run`);
    return found;
  };
  const dispatch: Dispatch = {
    unary: async (method, request, out) => to(method).unary(method, request, out),
    stream: (method, request, out) => to(method as never).stream(method, request, out),
    duplex: (method, requests, out) => to(method as never).duplex(method, requests, out),
  };
  const standing = delegations();
  const closed = new Map<string, EndpointAvailability>();
  mount("catalogue", catalogueOf(closed, runs?.tools ?? []));
  const told: string[] = [];
  const publish = unary(WatchService.method.publish, ({ id }) => {
    told.push(id);
    return {};
  });
  mount("auth", [exchange, resolve, memberships, publish, ...standing.methods]);
  const peers = createPeers(dispatch, { authorization: "Bearer key-services" });
  const add = (service: Service, observe?: Chain["observe"]): void => {
    services.push(service);
    mount(service.name, service.methods, observe);
  };
  const more = {
    ...(webhook && { webhook }),
    ...(webhookPace && { webhookPace }),
    ...(quota && { quota }),
    ...(knowledge && { knowledge }),
    ...(runs && { runs }),
    ...(models && { models }),
  };
  const spending = dayLimits && { dayLimits };
  add(await createCoreObjectsService({ outgoing, store, peers, log: heard, seal: SEAL, ...more, ...spending }));
  return {
    store,
    peers,
    dispatch,
    delegations: standing,
    closed,
    told,
    add,
    async close() {
      for (const service of services.reverse()) await service.close();
      if (given === undefined) await store.close();
      if (kept === undefined) await rm(folder, { recursive: true, force: true });
      if (uncovered.length > 0) throw new Error(uncovered.join(""));
    },
  };
}
