import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { PlatformTokenService } from "#proto/auth/v1/platform_token_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import type { PlatformParts } from "../../../services/platform-proxy/parts.js";
import type { PlatformSlotLimits } from "../../../services/platform-proxy/platform-slots.js";
import { createPlatformProxyService } from "../../../services/platform-proxy/service.js";
import { silentLog } from "../../../services/shared/process/log.js";
import type { Authenticator, Caller } from "../../../services/shared/rpc/call.js";
import { unauthenticated } from "../../../services/shared/rpc/errors.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import { unary } from "../../../services/shared/rpc/method.js";
import { createPeers } from "../../../services/shared/rpc/peers.js";
import { LOOPBACK } from "../outgoing.js";
import { type Issuer, startIssuer } from "./issuer.js";

/** The platform proxy in front of one platform, with people to call it as. */
export interface Harness {
  /** Whose tokens the platform takes. */
  readonly issuer: Issuer;
  /** Calls a tool as the user with this first part of an e-mail address. */
  call<I extends DescMessage, O extends DescMessage>(
    tool: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    as?: string,
    signal?: AbortSignal,
  ): Promise<MessageShape<O>>;
  /** Calls a streaming tool. */
  stream<I extends DescMessage, O extends DescMessage>(
    tool: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    as?: string,
    signal?: AbortSignal,
  ): AsyncIterable<MessageShape<O>>;
  /** Tells the service that something changed. */
  emit(kind: string, id: string): Promise<void>;
  /** Closes the service, what was started before it, and the issuer; once. */
  close(): Promise<void>;
}

/** What stands between the tools and a sandbox. */
export interface Through {
  /** Takes the sandbox's address, gives the one to call. */
  readonly through?: (url: string) => string;
}

/** What is in front of the service, and where. */
export interface Setup {
  readonly platform: PlatformParts;
  /** Who calls where nobody is named. */
  readonly as: string;
  /** The address to call. */
  readonly url: string;
  /** What the platform calls itself; `url` where left out. */
  readonly publicUrl?: string;
  /** How the platform takes our token. */
  readonly auth?: "bearer" | "exchange";
  /** The audience of tokens to exchange. */
  readonly clientId?: string;
  /** How many calls may be under way; more than any test makes where left out. */
  readonly slots?: PlatformSlotLimits;
}

const MANY: PlatformSlotLimits = { perPlatform: 1_000, perKey: 1_000 };

/** Where the people of the tests have their mail. */
export const emailOf = (person: string): string => (person.includes("@") ? person : `${person}@sallyport.example`);

/**
 * Starts an issuer, then what `prepare` starts (a sandbox that trusts it, say),
 * and the platform proxy in front of that. Its peers are the rpcs that auth and
 * the catalogue answer.
 */
export async function startHarness<Started extends { close?(): Promise<void> }>(
  prepare: (issuer: Issuer) => Promise<{ readonly started: Started; readonly setup: Setup }>,
): Promise<Harness & { readonly started: Started }> {
  const issuer = await startIssuer();
  const { started, setup } = await prepare(issuer);
  const { platform, url, publicUrl = url, auth = "bearer", clientId = "", slots = MANY } = setup;
  const authenticator = authenticatorFor(platform.adapter.server);
  const listeners = new Set<(event: { kind: string; id: string }) => Promise<void>>();

  const others = mountInProcess(
    [
      unary(CredentialService.method.exchangeAssertion, ({ subjectToken }) => ({
        assertion: subjectToken,
        expiresAt: timestampFromMs(Date.now() + 300_000),
      })),
      unary(PlatformTokenService.method.mintPlatformToken, async (_, { caller }) => ({
        token: await issuer.sign({
          aud: auth === "exchange" ? clientId : publicUrl,
          sub: caller.id,
          email: caller.email,
        }),
      })),
      unary(SettingService.method.getPlatformTarget, () => ({ registered: true, url, publicUrl, auth, clientId })),
    ],
    { authenticator, log: silentLog },
  );
  const service = createPlatformProxyService({
    outgoing: LOOPBACK,
    peers: createPeers(others, { authorization: `Bearer ${OURSELVES}` }),
    log: silentLog,
    platforms: [platform],
    slots,
    agentName: "sallyport-test/1.0",
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  const dispatch = mountInProcess(service.methods, { authenticator, log: silentLog });
  const as = (person = setup.as) => ({ authorization: `Bearer ${person}` });
  let closing: Promise<void> | undefined;

  return {
    issuer,
    started,
    call: (tool, request, person, signal) => dispatch.unary(tool, request, { credential: as(person), signal }),
    stream: (tool, request, person, signal) => dispatch.stream(tool, request, { credential: as(person), signal }),
    async emit(kind, id) {
      await Promise.all([...listeners].map((listener) => listener({ kind, id })));
    },
    close() {
      closing ??= (async () => {
        await service.close();
        await started.close?.();
        await issuer.close();
      })();
      return closing;
    },
  };
}

/** The service's own account. */
const OURSELVES = "self";

/** Takes the word after Bearer for the person, who may do everything on the server. */
function authenticatorFor(server: string): Authenticator {
  const scopes = new Set(["account", "delegated", "internal", `${server}:read`, `${server}:write`]);
  return {
    authenticate({ authorization, assertion }) {
      const name = assertion ?? authorization?.replace("Bearer ", "");
      if (name === undefined) throw unauthenticated("no credential");
      const caller: Caller = {
        id: `user-${name}`,
        email: emailOf(name),
        name,
        admin: false,
        groups: [],
        scopes,
        keyId: `key-${name}`,
        service: name === OURSELVES,
      };
      return { caller, assertion: name };
    },
  };
}
