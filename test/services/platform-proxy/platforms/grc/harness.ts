import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { PlatformTokenService } from "#proto/auth/v1/platform_token_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { loadPlatform } from "../../../../../services/platform-proxy/parts.js";
import { type CisoOptions, createCisoAdapter } from "../../../../../services/platform-proxy/platforms/grc/adapter.js";
import { createPlatformProxyService } from "../../../../../services/platform-proxy/service.js";
import { type GrcSandbox, startSandbox } from "../../../../../services/sandbox/grc/server.js";
import { silentLog } from "../../../../../services/shared/process/log.js";
import type { Authenticator, Caller } from "../../../../../services/shared/rpc/call.js";
import { unauthenticated } from "../../../../../services/shared/rpc/errors.js";
import { mountInProcess } from "../../../../../services/shared/rpc/in-process.js";
import { unary } from "../../../../../services/shared/rpc/method.js";
import { createPeers } from "../../../../../services/shared/rpc/peers.js";
import { type Issuer, startIssuer } from "./issuer.js";

/** What of the platform's answers is looked at. */
export interface PlatformAnswer {
  readonly meta: { readonly access_token: string };
  readonly field_visibility: { readonly score: { readonly auditor: string } };
  readonly applied_controls: readonly unknown[];
}

export interface Harness {
  readonly issuer: Issuer;
  readonly sandbox: GrcSandbox;
  /** Calls a tool as the user with this first part of an e-mail address. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    as?: string,
    signal?: AbortSignal,
  ): Promise<MessageShape<O>>;
  /** What a user did at the platform, by verb and path. */
  done(as: string): string[];
  /** Does something at the platform itself, past the service. */
  atPlatform(as: string, verb: string, path: string, body?: unknown): Promise<PlatformAnswer>;
  /** Tells the service that something changed. */
  emit(kind: string, id: string): Promise<void>;
  close(): Promise<void>;
}

/** Callers are named by the first part of their e-mail address. */
const authenticator: Authenticator = {
  authenticate({ authorization, assertion }) {
    const name = assertion ?? authorization?.replace("Bearer ", "");
    if (name === undefined) throw unauthenticated("no credential");
    const caller: Caller = {
      id: `user-${name}`,
      email: `${name}@sallyport.example`,
      name,
      admin: false,
      groups: [],
      scopes: new Set([
        "account",
        "internal",
        "grc:read",
        "grc:write",
        ...(assertion === undefined ? [] : ["delegated"]),
      ]),
      keyId: `key-${name}`,
      service: name === "self",
    };
    return { caller, assertion: name };
  },
};

/**
 * The platform proxy in front of a built-in GRC platform. Its peers are the
 * rpcs that auth and the catalogue answer, with an issuer of its own behind.
 */
export async function startHarness(auth: "exchange" | "bearer", options?: CisoOptions): Promise<Harness> {
  const issuer = await startIssuer();
  const clientId = "sallyport-grc";
  const sandbox = await startSandbox({ host: "127.0.0.1", port: 0, trust: issuer.url, clientId });
  const listeners = new Set<(event: { kind: string; id: string }) => Promise<void>>();

  const others = mountInProcess(
    [
      unary(CredentialService.method.exchangeAssertion, (r) => ({
        assertion: r.subjectToken,
        expiresAt: timestampFromMs(Date.now() + 300_000),
      })),
      unary(PlatformTokenService.method.mintPlatformToken, async (_r, { caller }) => ({
        token: await issuer.sign({
          aud: auth === "exchange" ? clientId : sandbox.url,
          sub: caller.id,
          email: caller.email,
        }),
      })),
      unary(SettingService.method.getPlatformTarget, () => ({
        registered: true,
        url: sandbox.url,
        publicUrl: sandbox.url,
        auth,
        clientId,
      })),
    ],
    { authenticator: { authenticate: (c) => authenticator.authenticate(c) }, log: silentLog },
  );
  const service = createPlatformProxyService({
    peers: createPeers(others, { authorization: "Bearer self" }),
    log: silentLog,
    platforms: [{ ...(await loadPlatform("grc")), adapter: createCisoAdapter(options) }],
    agentName: "sallyport-test/1.0",
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  const dispatch = mountInProcess(service.methods, { authenticator, log: silentLog });
  const send = async (where: string, verb: string, authorization: string | undefined, json: unknown) => {
    const reply = await fetch(`${sandbox.url}${where}`, {
      method: verb,
      headers: { "content-type": "application/json", ...(authorization !== undefined && { authorization }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    return (await reply.json()) as PlatformAnswer;
  };

  let closing: Promise<void> | undefined;
  return {
    issuer,
    sandbox,
    call: (method, request, as = "officer", signal) =>
      dispatch.unary(method, request, { credential: { authorization: `Bearer ${as}` }, signal }),
    done: (as) =>
      sandbox.audit
        .filter(({ email }) => email === `${as}@sallyport.example`)
        .map(({ verb, path }) => `${verb} ${path.split("?")[0]}`),
    async atPlatform(as, verb, path, body) {
      const claims = { aud: clientId, sub: as, email: `${as}@sallyport.example` };
      const token = { client_id: clientId, id_token: await issuer.sign(claims) };
      const login = { provider: "openid_connect", process: "login", token };
      const { meta } = await send("/api/_allauth/app/v1/auth/provider/token", "POST", undefined, login);
      return send(path, verb, `Token ${meta.access_token}`, body);
    },
    async emit(kind, id) {
      await Promise.all([...listeners].map((listener) => listener({ kind, id })));
    },
    close() {
      closing ??= (async () => {
        await service.close();
        await sandbox.close();
        await issuer.close();
      })();
      return closing;
    },
  };
}
