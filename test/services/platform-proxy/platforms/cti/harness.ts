import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { expect } from "vitest";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { PlatformTokenService } from "#proto/auth/v1/platform_token_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { loadPlatform } from "../../../../../services/platform-proxy/parts.js";
import { createPlatformProxyService } from "../../../../../services/platform-proxy/service.js";
import { type CtiSandbox, type CtiSandboxOptions, startSandbox } from "../../../../../services/sandbox/cti/server.js";
import { silentLog } from "../../../../../services/shared/process/log.js";
import type { Authenticator, Caller } from "../../../../../services/shared/rpc/call.js";
import { unauthenticated } from "../../../../../services/shared/rpc/errors.js";
import { mountInProcess } from "../../../../../services/shared/rpc/in-process.js";
import { unary } from "../../../../../services/shared/rpc/method.js";
import { createPeers } from "../../../../../services/shared/rpc/peers.js";
import { type Issuer, startIssuer } from "./issuer.js";

export interface Harness {
  readonly issuer: Issuer;
  readonly sandbox: CtiSandbox;
  /** Calls a tool as the user with this first part of an e-mail address. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    as?: string,
  ): Promise<MessageShape<O>>;
  /** Asks the platform itself, past our service, as one of its users. */
  ask<Data>(
    as: string,
    query: string,
    variables?: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<Data>;
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
      scopes: new Set(["account", "delegated", "internal", "cti:read", "cti:write"]),
      keyId: `key-${name}`,
      service: name === "self",
    };
    return { caller, assertion: name };
  },
};

/**
 * The platform proxy in front of a built-in threat intelligence platform, or
 * of another address. Its peers are the rpcs that auth and the catalogue
 * answer, with an issuer of its own behind.
 */
export async function startHarness(
  options: Partial<CtiSandboxOptions> & { readonly platformUrl?: string } = {},
): Promise<Harness> {
  const issuer = await startIssuer();
  const sandbox = await startSandbox({
    host: "127.0.0.1",
    port: 0,
    trust: issuer.url,
    settings: { historyDelayMs: 20 },
    ...options,
  });
  const url = options.platformUrl ?? sandbox.url;
  const others = mountInProcess(
    [
      unary(CredentialService.method.exchangeAssertion, (r) => ({
        assertion: r.subjectToken,
        expiresAt: timestampFromMs(Date.now() + 300_000),
      })),
      unary(PlatformTokenService.method.mintPlatformToken, async (_r, { caller }) => ({
        token: await issuer.sign(caller.email, { aud: url, sub: caller.id }),
      })),
      unary(SettingService.method.getPlatformTarget, () => ({ registered: true, url, publicUrl: url, auth: "bearer" })),
    ],
    { authenticator, log: silentLog },
  );
  const service = createPlatformProxyService({
    peers: createPeers(others, { authorization: "Bearer self" }),
    log: silentLog,
    platforms: [await loadPlatform("cti")],
    agentName: "sallyport-test/1.0",
    onEvent: () => () => undefined,
  });
  const dispatch = mountInProcess(service.methods, { authenticator, log: silentLog });
  return {
    issuer,
    sandbox,
    call: (method, request, as = "analyst") =>
      dispatch.unary(method, request, { credential: { authorization: `Bearer ${as}` } }),
    async ask<Data>(as: string, query: string, variables = {}, headers = {}) {
      const reply = await fetch(`${sandbox.url}/graphql`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${await issuer.sign(`${as}@sallyport.example`)}`,
          ...headers,
        },
        body: JSON.stringify({ query, variables }),
      });
      const { data, errors } = (await reply.json()) as { data: Data; errors?: unknown };
      if (errors !== undefined) throw new Error(JSON.stringify(errors));
      return data;
    },
    async close() {
      await service.close();
      await sandbox.close();
      await issuer.close();
    },
  };
}

/** The error that a call ends with; a call that succeeds fails the test. */
export async function refusal(call: Promise<unknown>): Promise<ConnectError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ConnectError);
  return error as ConnectError;
}
