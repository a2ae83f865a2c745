import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { AuditService } from "#proto/auth/v1/audit_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { EndpointAvailability, EndpointService } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { createCoreObjectsService, type Options } from "../../../services/core-objects/service.js";
import { createAuditor } from "../../../services/shared/audit/auditor.js";
import { createAssertionVerifier } from "../../../services/shared/credentials/assertions.js";
import { createCredentials } from "../../../services/shared/credentials/credentials.js";
import { silentLog } from "../../../services/shared/process/log.js";
import type { Credential } from "../../../services/shared/rpc/call.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { unavailable } from "../../../services/shared/rpc/errors.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import { unary } from "../../../services/shared/rpc/method.js";
import { createPeers, type Peers } from "../../../services/shared/rpc/peers.js";
import { type ServiceName, serviceOf } from "../../../services/shared/rpc/service.js";
import { openEmbeddedStore } from "../../../services/shared/store/embedded/embedded.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { LOOPBACK } from "../../support/outgoing.js";
import { startStack } from "../auth/stack.js";
import { SEAL } from "./rig.js";
import { QUICK } from "./runs/stage.js";

// Auth and core as they run in one process, on one store, with people who sign in with API keys of their own.
// Closing it fails when any query was not covered by an index.

/** Someone with an API key. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly credential: Credential;
}

/** @param own options of core. */
export async function startLeavingRig(own: Partial<Options> = {}) {
  let peers: Peers | undefined;
  /** Services that do not answer for now. */
  const silent = new Set<ServiceName>();
  const uncovered: string[] = [];
  const folder = await mkdtemp(join(tmpdir(), "leaving-"));
  const log = pino({ level: "warn" }, { write: (line) => void uncovered.push(line) });
  const store = await openEmbeddedStore(folder, { log });
  const stack = await startStack({ store, peersOf: () => peers });
  const credential = { authorization: `Bearer ${stack.secrets.serviceKey}` };
  const mounted = new Map<ServiceName, Dispatch>([["auth", stack.dispatch]]);
  const to = (method: Parameters<Dispatch["unary"]>[0]): Dispatch => {
    const name = serviceOf(method) as ServiceName;
    const found = silent.has(name) ? undefined : mounted.get(name);
    if (found === undefined) throw unavailable(`${name} does not answer`);
    return found;
  };
  const dispatch: Dispatch = {
    unary: async (method, request, out) => to(method).unary(method, request, out),
    stream: (method, request, out) => to(method as never).stream(method, request, out),
    duplex: (method, requests, out) => to(method as never).duplex(method, requests, out),
  };
  peers = createPeers(dispatch, credential);
  const credentials = createCredentials({ dispatch, credential, log: silentLog });
  const tools = readTools(readImage());
  const audit = createAuditor({
    log: silentLog,
    send: async (request) => (await peers!.callAsService(AuditService.method.recordAudit, request)).numbers,
  });
  const mount = (name: ServiceName, methods: Parameters<typeof mountInProcess>[0]): void => {
    const authenticator = createAssertionVerifier({ service: name, credentials, dispatch, credential });
    mounted.set(name, mountInProcess(methods, { authenticator, log: silentLog, audit }));
  };
  const open = ["cti", "aev", "grc", "core"].map((server) => ({ server, availability: EndpointAvailability.OPEN }));
  mount("catalogue", [
    unary(EndpointService.method.getEndpointStates, () => ({ endpoints: open })),
    unary(EndpointService.method.listVisibleTools, ({ server }) => ({
      tools: tools.filter((tool) => tool.server === server).map(({ name }) => name),
    })),
  ]);
  const core = await createCoreObjectsService({
    ...{ store: stack.store, peers, log: silentLog, seal: SEAL, outgoing: LOOPBACK },
    runs: { tools, worker: QUICK },
    ...own,
  });
  mount("core-objects", core.methods);
  const root: Person = {
    id: (await stack.as(stack.secrets.admin.apiKey, UserService.method.getUser, { email: stack.secrets.admin.email }))
      .user!.id,
    email: stack.secrets.admin.email,
    credential: { authorization: `Bearer ${stack.secrets.admin.apiKey}` },
  };
  const call: Dispatch["unary"] = (method, request, out) => dispatch.unary(method, request, out);
  return {
    store: stack.store,
    records: stack.records,
    dispatch,
    call,
    root,
    silent,
    async person(name: string): Promise<Person> {
      const email = `${name}@example.org`;
      const { user } = await call(UserService.method.createUser, { email, name }, root);
      const { token } = await call(ApiKeyService.method.createApiKey, { userEmail: email, name: "key" }, root);
      return { id: user!.id, email, credential: { authorization: `Bearer ${token}` } };
    },
    disable: async ({ id }: Person) =>
      (await call(UserService.method.updateUser, { id, disabled: true }, root)).leftBehind!,
    enable: ({ id }: Person) => call(UserService.method.updateUser, { id, disabled: false }, root),
    remove: async ({ id }: Person) => (await call(UserService.method.deleteUser, { id }, root)).leftBehind!,
    audited: async (target: string) => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      return (await call(AuditService.method.listAuditRecords, { target, pageSize: 100 }, root)).records;
    },
    async close() {
      await audit.close();
      await core.close();
      await credentials.close();
      await stack.close();
      await rm(folder, { recursive: true, force: true });
      if (uncovered.length > 0) throw new Error(uncovered.join(""));
    },
  };
}
