import { parsedUrl } from "../../services/shared/parsed-url.js";
import { SERVERS, type Server } from "../../services/shared/platforms.js";
import { EXIT, Failure } from "./failures.js";
import type { Session } from "./session.js";

/** What the service says of itself to everybody. */
export interface PublicAddresses {
  /** The public base URL. */
  readonly baseUrl: string;
  /** The name that users see. */
  readonly serviceName: string;
  /** The public URL of each endpoint: its own, if it has one. */
  readonly endpoints: Readonly<Record<Server, string>>;
}

/** The most bytes that are read of it. */
const MOST = 64 * 1024;
const PATIENCE_MS = 10_000;

/**
 * Asks the service for its public addresses, which are not those at which this shell reaches it.
 *
 * @throws Failure if it does not say.
 */
export async function publicAddresses({ url }: Pick<Session, "url">): Promise<PublicAddresses> {
  const address = `${url}/console/config.json`;
  const reply = await fetch(address, { redirect: "error", signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => {
    throw new Failure(`${url} does not answer: start the service, or give --url`, EXIT.unavailable);
  });
  const read = reply.ok ? addressesIn(await beginningOf(reply)) : undefined;
  if (read === undefined)
    throw new Failure(`${address} does not say the addresses of this service: build the console, or give --url`);
  return read;
}

/** The text of an answer, up to the most that is read. */
async function beginningOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    parts.push(part);
    size += part.length;
    if (size > MOST) break;
  }
  return Buffer.concat(parts).subarray(0, MOST).toString();
}

function addressesIn(text: string): PublicAddresses | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const {
    base_url: baseUrl,
    service_name: serviceName,
    endpoints,
  } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const urls = (endpoints ?? {}) as Readonly<Record<string, unknown>>;
  if (!isUrl(baseUrl) || typeof serviceName !== "string" || !SERVERS.every((server) => isUrl(urls[server])))
    return undefined;
  return { baseUrl, serviceName, endpoints: urls as Record<Server, string> };
}

const isUrl = (value: unknown): value is string => typeof value === "string" && parsedUrl(value) !== undefined;
