import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { ConnectionState, type Platform, SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { clientOf } from "./client.js";
import { failureOf } from "./reasons.js";
import type { Session } from "./session.js";

/** One thing that was looked at. */
export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warn" | "wrong";
  readonly found: string;
  /** What to do about it; absent where all is well. */
  readonly do?: string;
}

/** How long an answer is waited for, in milliseconds. */
const PATIENCE_MS = 5_000;
/** Tokens for platforms are backdated by so much: a clock that differs by more can refuse them, in milliseconds. */
const SKEW_MS = 5_000;
/** What `Date` is rounded by, and an answer may take, in milliseconds. */
const DATE_ROUNDS_MS = 2_000;
const EXPIRES_SOON_MS = 14 * 86_400_000;

/** Looks at what the service says of itself, and at what platforms need of it. */
export async function checkService(session: Session): Promise<Finding[]> {
  const ready = await readiness(session);
  if (ready.some(({ check }) => check === "service")) return ready;
  const looks = [keysPublished(session), platforms(session), switches(session), ownKeys(session)];
  return [...ready, ...(await Promise.all(looks)).flat()];
}

async function readiness({ url }: Session): Promise<Finding[]> {
  let response: Response;
  try {
    response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(PATIENCE_MS) });
  } catch (error) {
    const { message } = failureOf(error);
    const fix = "its own log says why it ended; with a proxy in front, look at the proxy and its certificate too";
    return [{ check: "service", state: "wrong", found: `${url}: ${message}`, do: fix }];
  }
  const body = (await response.json().catch(() => ({}))) as { reasons?: string[] };
  const clock = skewOf("clock", response, "the clocks of this machine and of the service");
  if (response.ok) return [{ check: "ready", state: "ok", found: url }, clock];
  const reasons = body.reasons ?? [`/readyz answers ${response.status}`];
  const fix = "docs/operations.md explains readiness; the log of the service has the cause";
  return [...reasons.map((found): Finding => ({ check: "ready", state: "wrong", found, do: fix })), clock];
}

function skewOf(check: string, { headers }: Response, between: string): Finding {
  const date = Date.parse(headers.get("date") ?? "");
  if (Number.isNaN(date)) return { check, state: "ok", found: "the answer has no time" };
  const skew = Math.abs(Date.now() - date);
  if (skew <= SKEW_MS + DATE_ROUNDS_MS) return { check, state: "ok", found: `${between} agree within seconds` };
  const fix = "set both clocks by NTP: a token is valid for two minutes only";
  return { check, state: "wrong", found: `${between} differ by ${Math.round(skew / 1_000)} s`, do: fix };
}

/** What platforms verify our tokens by, at the address that they are told. */
async function keysPublished({ url }: Session): Promise<Finding[]> {
  const check = "published keys";
  const fix = "set BASE_URL to the address at which platforms reach this service, and permit requests to /xtm/ there";
  try {
    const { issuer } = await json<{ issuer: string }>(`${url}/xtm/auth/metadata`);
    const { keys } = await json<{ keys: unknown[] }>(`${issuer}/xtm/auth/jwks`);
    if (keys.length > 0) return [{ check, state: "ok", found: `${keys.length} at ${issuer}/xtm/auth/jwks` }];
    return [{ check, state: "wrong", found: `none at ${issuer}/xtm/auth/jwks`, do: fix }];
  } catch (error) {
    return [{ check, state: "wrong", found: `they cannot be read: ${failureOf(error).message}`, do: fix }];
  }
}

async function json<T>(url: string): Promise<T> {
  const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return (await response.json()) as T;
}

async function platforms(session: Session): Promise<Finding[]> {
  try {
    const { platforms: found } = await clientOf(session, SettingService).listPlatforms({});
    return (await Promise.all(found.map(platform))).flat();
  } catch (error) {
    return [refused("platforms", error)];
  }
}

async function platform({ server, state, url, title, serves }: Platform): Promise<Finding[]> {
  const check = `platform ${server}`;
  if (state === ConnectionState.NOT_CONNECTED) {
    const name = server.toUpperCase();
    const fix = `set ${name}_URL, or make a token with platforms create-token --server ${server}; ignore this if you want none`;
    return [{ check, state: "warn", found: "no platform is registered: the endpoint answers 404", do: fix }];
  }
  if (!serves) {
    return [{ check, state: "ok", found: `${title || url} is registered; another platform serves` }];
  }
  if (state !== ConnectionState.CONNECTED) {
    const fix =
      "start it, and make sure that the service can reach that address; until then calls fail with connectivity";
    return [{ check, state: "wrong", found: `${title || url} does not answer at ${url}`, do: fix }];
  }
  const answered: Finding = { check, state: "ok", found: `${title || url} answers` };
  // From here it may be out of reach, where the service reaches it: then nothing is known of its clock.
  const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS), redirect: "manual" }).catch(
    () => undefined,
  );
  await response?.body?.cancel();
  return response === undefined
    ? [answered]
    : [answered, skewOf(`clock of ${server}`, response, "the clocks of the service and of the platform")];
}

async function switches(session: Session): Promise<Finding[]> {
  try {
    const { settings } = await clientOf(session, SettingService).getSettings({});
    const off = [
      ...(settings?.platformServers ? [] : ["platform-servers"]),
      ...(settings?.core ? [] : ["core"]),
      ...(settings?.ai ? [] : ["ai"]),
    ];
    if (off.length === 0) return [{ check: "switches", state: "ok", found: "all switches are on" }];
    const fix = `settings set ${off[0]} on, if you want it`;
    return [{ check: "switches", state: "warn", found: `off: ${off.join(", ")}`, do: fix }];
  } catch (error) {
    return [refused("switches", error)];
  }
}

/** The administrator's own keys: without one nobody can make another. */
async function ownKeys(session: Session): Promise<Finding[]> {
  const check = "your keys";
  try {
    const { keys } = await clientOf(session, ApiKeyService).listApiKeys({ pageSize: 100 });
    const soon = keys.filter(
      ({ expiresAt }) => expiresAt && timestampDate(expiresAt).getTime() - Date.now() < EXPIRES_SOON_MS,
    );
    if (soon.length === 0) return [{ check, state: "ok", found: "no key expires within 14 days" }];
    const found = `${soon.map(({ id }) => id).join(", ")} expire within 14 days, or have expired`;
    return [{ check, state: "warn", found, do: "keys rotate ID replaces a key; keys revoke ID ends it" }];
  } catch (error) {
    return [refused(check, error)];
  }
}

function refused(check: string, error: unknown): Finding {
  return { check, state: "wrong", found: failureOf(error).message, do: "sign in with an administrator's key: --key" };
}
