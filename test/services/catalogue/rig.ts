import { mkdtempSync, rmSync } from "node:fs";
import type { LookupFunction } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { type EventKind, WatchService } from "#proto/auth/v1/watch_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { CapabilityService } from "#proto/core/v1/capability_service_pb.js";
import { SnapshotService } from "#proto/platform/v1/snapshot_service_pb.js";
import { createCatalogueService, type Options } from "../../../services/catalogue/service.js";
import { type OutgoingPolicy, withAllowed } from "../../../services/shared/outgoing/policy.js";
import { silentLog } from "../../../services/shared/process/log.js";
import type { Authenticator, Caller } from "../../../services/shared/rpc/call.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { canceled, unauthenticated } from "../../../services/shared/rpc/errors.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import { unary } from "../../../services/shared/rpc/method.js";
import { createPeers } from "../../../services/shared/rpc/peers.js";
import { openEmbeddedStore } from "../../../services/shared/store/embedded/embedded.js";
import type { Store } from "../../../services/shared/store/store.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { LOOPBACK } from "../../support/outgoing.js";

/** What the services that the catalogue calls were told, and what they answer. */
export interface Neighbours {
  readonly published: { readonly kind: EventKind; readonly id: string }[];
  capabilities: () => string[];
  reachable: boolean;
  /** Set: the platforms do not say what a caller can do, until they are asked no more. */
  hang?: (signal: AbortSignal) => void;
}

const caller = (id: string, scopes: string[]): Caller => ({
  id,
  email: `${id}@example.org`,
  name: id,
  admin: id === "admin",
  groups: [],
  // As auth gives it to who calls on in somebody's name.
  scopes: new Set(["public", "delegated", ...scopes]),
  keyId: "",
  service: id === "service",
});
const tools = ["cti", "aev", "grc", "core"].flatMap((server) => [`${server}:read`, `${server}:write`]);
const CALLERS = new Map(
  [
    caller("admin", ["account", "admin", ...tools]),
    caller("analyst", ["account", ...tools]),
    caller("reader", ["account", "cti:read"]),
    caller("service", ["internal"]),
  ].map((one) => [one.id, one]),
);
const authenticator: Authenticator = {
  authenticate({ assertion = "" }) {
    const found = CALLERS.get(assertion);
    if (found === undefined) throw unauthenticated("who are you?");
    return { caller: found, assertion };
  },
};

/** Presents one of the callers: admin, analyst, reader or service. */
export const as = (who: string) => ({ credential: { assertion: who } });

/** An embedded store in a directory of its own, and how to end it. */
export async function openStore(): Promise<{ store: Store; dir: string; end(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), "sallyport-"));
  const store = await openEmbeddedStore(dir);
  return {
    store,
    dir,
    async end() {
      await store.close();
      rmSync(dir, { recursive: true });
    },
  };
}

/** Neighbours that answer well. */
export const neighbours = (): Neighbours => ({ published: [], capabilities: () => ["*"], reachable: true });

/** Names that begin with `inside` lead to a private address, localhost to loopback, and every other name to a public one. */
const names: LookupFunction = (name, _options, done) => {
  const address = name.startsWith("inside") ? "172.16.0.9" : name === "localhost" ? "127.0.0.1" : "93.184.216.34";
  done(null, [{ address, family: 4 }]);
};

/** The catalogue on a store, among neighbours. */
export async function startCatalogue(
  store: Store,
  around: Neighbours,
  configured: Options["configured"],
  registrationToken: string | undefined = "configured-token",
  snapshotMs?: number,
  outgoing: OutgoingPolicy = withAllowed(LOOPBACK, ["10.0.0.0/8", "192.168.1.0/24", "fd12:3456::/32"]),
): Promise<Dispatch> {
  const steps = { authenticator, log: silentLog };
  const others = mountInProcess(
    [
      unary(WatchService.method.publish, async ({ kind, id }) => {
        around.published.push({ kind, id });
        return { seq: 1n };
      }),
      unary(CredentialService.method.exchangeAssertion, async ({ subjectToken }) => ({ assertion: subjectToken })),
      unary(SnapshotService.method.getSnapshot, async (_request, { signal }) => {
        if (around.hang === undefined) return { capabilities: around.capabilities() };
        around.hang(signal);
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
        throw canceled("the call was cancelled");
      }),
      unary(SnapshotService.method.probe, async () => ({ reachable: around.reachable })),
      unary(CapabilityService.method.getCapabilities, async () => ({ capabilities: around.capabilities() })),
    ],
    steps,
  );
  const service = await createCatalogueService({
    homepage: "https://mcp.example.com",
    serviceName: "Sallyport",
    urlOf: (server) => `https://mcp.example.com/mcp/${server}`,
    store,
    peers: createPeers(others, { assertion: "service" }),
    log: silentLog,
    tools: readTools(readImage()),
    configured,
    authentications: { grc: { auth: "exchange", clientId: "configured-client" } },
    registrationToken,
    outgoing,
    resolve: names,
    ...(snapshotMs !== undefined && { snapshotMs }),
  });
  return mountInProcess(service.methods, steps);
}

/** A platform's registration, as the façade passes it on. */
export const registration =
  (dispatch: Dispatch) =>
  (token: string, fields: object = {}) =>
    dispatch.unary(
      SettingService.method.registerPlatform,
      {
        token,
        platformIdentifier: "openaev",
        platformUrl: "https://aev.example.com/",
        platformVersion: "2.4.0",
        ...fields,
      },
      as("service"),
    );
