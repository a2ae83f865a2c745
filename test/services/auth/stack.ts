import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { type BootstrapSecrets, bootstrap } from "../../../services/auth/bootstrap.js";
import { type AuthOptions, createAuthService } from "../../../services/auth/service.js";
import { type AuthStore, openAuthStore } from "../../../services/auth/store.js";
import { silentLog } from "../../../services/shared/process/log.js";
import type { Chain } from "../../../services/shared/rpc/chain.js";
import { serveConnect } from "../../../services/shared/rpc/connect.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import type { AuthenticatingService } from "../../../services/shared/rpc/service.js";
import { createSeal } from "../../../services/shared/secrets/seal.js";
import { openEmbeddedStore } from "../../../services/shared/store/embedded/embedded.js";
import type { Store } from "../../../services/shared/store/store.js";

/** What seals signing keys in these tests. */
export const SEAL = createSeal([Buffer.alloc(32, 7)]);

/** A running auth service on a store of its own, with its first users. */
export interface Stack {
  readonly store: Store;
  readonly records: AuthStore;
  readonly service: AuthenticatingService;
  readonly steps: Chain;
  readonly dispatch: Dispatch;
  readonly secrets: BootstrapSecrets;
  /** Calls with an API key. */
  as<I extends DescMessage, O extends DescMessage>(
    apiKey: string,
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
  ): Promise<MessageShape<O>>;
  /** Why a token is refused; undefined where it is not. */
  refusalOf(token: string): Promise<string | undefined>;
  close(): Promise<void>;
}

/** Opens an embedded store in a new directory; its close removes the directory. */
export async function temporaryStore(): Promise<Store> {
  const dir = await mkdtemp(join(tmpdir(), "auth-"));
  const store = await openEmbeddedStore(dir);
  const close = store.close.bind(store);
  store.close = async () => {
    await close();
    await rm(dir, { recursive: true, force: true });
  };
  return store;
}

export async function startStack(options: Partial<AuthOptions> = {}): Promise<Stack> {
  const store = options.store ?? (await temporaryStore());
  const found = await bootstrap({
    store,
    adminEmail: "Admin@Example.org",
    analystEmail: "analyst@example.org",
    keep: () => undefined,
  });
  if (found === undefined) throw new Error("the store was in use before");
  const service = await createAuthService({
    store,
    seal: SEAL,
    baseUrl: "https://sallyport.example/",
    log: silentLog,
    fenceMs: 0,
    ...options,
  });
  const steps: Chain = { authenticator: service.authenticator, log: silentLog };
  const dispatch = mountInProcess(service.methods, steps);
  const as: Stack["as"] = (apiKey, method, request) =>
    dispatch.unary(method, request, { credential: { authorization: `Bearer ${apiKey}` } });
  return {
    store,
    records: await openAuthStore(store),
    service,
    steps,
    dispatch,
    secrets: found,
    as,
    async refusalOf(token) {
      const { outcome } = await as(found.serviceKey, CredentialService.method.verifyCredential, { token });
      return outcome.case === "refused" ? outcome.value.reason : undefined;
    },
    async close() {
      await service.close();
      await store.close();
    },
  };
}

/** Serves an auth service on a real socket. */
export function serve({ service, steps }: Pick<Stack, "service" | "steps">, port = 0) {
  return serveConnect({
    host: "127.0.0.1",
    port,
    methods: service.methods.map((method) => ({ method, steps })),
  });
}
