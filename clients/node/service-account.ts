import { createPrivateKey, type KeyObject, randomUUID, sign } from "node:crypto";
import type { DescService } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { ServiceAccountService } from "../../proto/gen/auth/v1/service_account_service_pb.js";

/** A service account, and how it proves that it is one. */
export interface ServiceAccount {
  /** Its name, such as svc:soar. */
  readonly name: string;
  /** The public base URL of the deployment, exactly as its administrators set it: the audience of the signature. */
  readonly audience: string;
  /** The private key: a KeyObject, or PEM (PKCS #8); RSA, P-256 or Ed25519. */
  readonly key: KeyObject | string;
  /** The kid under which its public half is registered. */
  readonly kid: string;
  /** The user to act for, by id or e-mail address; itself if left out. */
  readonly actFor?: string;
}

/** The metadata that carries a caller assertion. */
export const CALLER_HEADER = "x-caller";

/** How long an assertion lives that is signed here, in seconds; the service takes 300 at most. */
const SIGNED_S = 60;
/** What was exchanged is exchanged again so long before it ends, in milliseconds. */
const RENEW_BEFORE_MS = 60_000;

/** Proto packages of services whose name is another; those of platforms are all platform-proxy. */
const SERVICES: Readonly<Record<string, string>> = {
  ...{ auth: "auth", grpc: "auth", catalogue: "catalogue", core: "core-objects" },
  ...{ traces: "traces", opentelemetry: "traces" },
};

/** What a service account presents: one exchange serves all calls until shortly before it ends. */
export interface AccountCredential {
  /** The caller assertion for a service. @throws ConnectError where the exchange is refused. */
  assertionFor(service: DescService): Promise<string>;
}

/** Signs, exchanges and renews for one service account. @param transport to the process that runs auth. */
export function accountCredential(transport: Transport, account: ServiceAccount): AccountCredential {
  const client = createClient(ServiceAccountService, transport);
  const key = typeof account.key === "string" ? createPrivateKey(account.key) : account.key;
  let exchanged: Promise<{ readonly assertions: Readonly<Record<string, string>>; readonly until: number }> | undefined;
  let renewAt = 0;

  async function exchange() {
    const clientAssertion = signedBy(key, account);
    const answer = await client.exchangeClientAssertion({ clientAssertion, actFor: account.actFor ?? "" });
    const until = answer.expiresAt === undefined ? 0 : timestampMs(answer.expiresAt);
    renewAt = until - RENEW_BEFORE_MS;
    return { assertions: answer.assertions, until };
  }

  function current(): typeof exchanged & object {
    if (exchanged === undefined || Date.now() >= renewAt) {
      // One exchange for all who call at the same time; after a failure the next call tries again.
      renewAt = Number.POSITIVE_INFINITY;
      exchanged = exchange().catch((error: unknown) => {
        exchanged = undefined;
        throw error;
      });
    }
    return exchanged;
  }

  return {
    async assertionFor({ typeName }) {
      const { assertions } = await current();
      return assertions[SERVICES[typeName.split(".", 1)[0] as string] ?? "platform-proxy"] ?? "";
    },
  };
}

/** Presents the account in each call of a client of connect. */
export function asAccount(credential: AccountCredential): Interceptor {
  return (next) => async (request) => {
    request.header.set(CALLER_HEADER, await credential.assertionFor(request.service));
    return next(request);
  };
}

/** A client assertion (RFC 7523 section 3), signed as the key's kind is. */
function signedBy(key: KeyObject, { name, audience, kid }: ServiceAccount): string {
  const alg = algOf(key);
  const now = Math.floor(Date.now() / 1_000);
  const claims = { iss: name, sub: name, aud: audience, iat: now, exp: now + SIGNED_S, jti: randomUUID() };
  const body = [{ alg, kid, typ: "JWT" }, claims].map((part) => encoded(JSON.stringify(part))).join(".");
  // JWS has the two numbers of an ECDSA signature side by side (RFC 7518 section 3.4).
  const options = { key, dsaEncoding: "ieee-p1363" } as const;
  return `${body}.${sign(alg === "EdDSA" ? null : "sha256", Buffer.from(body), options).toString("base64url")}`;
}

function algOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): "EdDSA" | "RS256" | "ES256" {
  if (asymmetricKeyType === "ed25519") return "EdDSA";
  if (asymmetricKeyType === "rsa") return "RS256";
  if (asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === "prime256v1") return "ES256";
  throw new TypeError("the key of a service account must be an RSA, P-256 or Ed25519 key");
}

const encoded = (text: string): string => Buffer.from(text).toString("base64url");
