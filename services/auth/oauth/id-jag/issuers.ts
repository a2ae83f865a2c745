import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from "jose";
import { parsedUrl } from "../../../shared/parsed-url.js";
import type { ClientFetch } from "../fetch-client.js";

/** An identity provider whose assertions are accepted, and the algorithms that it signs with. */
export interface IssuerSetting {
  readonly url: string;
  readonly algorithms: readonly string[];
  /** The only tenant whose assertions are accepted, if it issues for several (claim `tenant`). */
  readonly tenant?: string | undefined;
}

/** One that can be asked for its keys. */
export interface Issuer extends IssuerSetting {
  readonly keys: JWTVerifyGetKey;
}

/** The keys of a provider cannot be read at the moment: nothing is known about an assertion of its. */
export class IssuerUnavailable extends Error {}

const KEYS_FRESH_MS = 10 * 60_000;
const KEYS_COOLDOWN_MS = 30_000;
const TIMEOUT_MS = 3_000;
/** Longest document of a provider, in bytes. */
const MAX_DOCUMENT = 256 << 10;

/** The providers by their issuer, letter for letter. */
export function createIssuers(
  settings: readonly IssuerSetting[],
  fetchOutside: ClientFetch,
): ReadonlyMap<string, Issuer> {
  return new Map(settings.map((setting) => [setting.url, { ...setting, keys: keysOf(setting.url, fetchOutside) }]));
}

/** The keys of a provider, read from its metadata when they are first needed, and again when it has others. */
function keysOf(issuer: string, fetchOutside: ClientFetch): JWTVerifyGetKey {
  const read = boundedFetch(fetchOutside);
  let keys: JWTVerifyGetKey | undefined;
  let reading: Promise<JWTVerifyGetKey> | undefined;

  async function discover(): Promise<JWTVerifyGetKey> {
    const reply = await read(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const document = (await reply.json()) as { issuer?: unknown; jwks_uri?: unknown };
    // RFC 8414 section 3.3: the document must be that issuer's own.
    const keys = typeof document.jwks_uri === "string" ? parsedUrl(document.jwks_uri) : undefined;
    if (document.issuer !== issuer || keys === undefined) {
      throw new Error(`the metadata of ${issuer} is not its own, or names no keys`);
    }
    return createRemoteJWKSet(keys, {
      cacheMaxAge: KEYS_FRESH_MS,
      cooldownDuration: KEYS_COOLDOWN_MS,
      timeoutDuration: TIMEOUT_MS,
      [customFetch]: read,
    });
  }

  return async (header, token) => {
    try {
      if (keys === undefined) {
        reading ??= discover().finally(() => {
          reading = undefined;
        });
        keys = await reading;
      }
      return await keys(header, token);
    } catch (cause) {
      if (cause instanceof errors.JWKSNoMatchingKey || cause instanceof errors.JWKSMultipleMatchingKeys) throw cause;
      // fetch says no more than that it failed; why, its own cause says.
      const { message } = (cause as { readonly cause?: Error }).cause ?? (cause as Error);
      throw new IssuerUnavailable(`the keys of ${issuer} cannot be read: ${message}`, { cause });
    }
  };
}

/** Reads an answer only as far as a provider's document is long. */
function boundedFetch(fetchOutside: ClientFetch) {
  return async (url: string, options: object): Promise<Response> => {
    const reply = await fetchOutside(url, options);
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of reply.body ?? []) {
      length += piece.length;
      if (length > MAX_DOCUMENT) throw new Error(`${url} answers with more than ${MAX_DOCUMENT} bytes`);
      pieces.push(piece);
    }
    return new Response(Buffer.concat(pieces), { status: reply.status });
  };
}
