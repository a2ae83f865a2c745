import { SERVERS, scopesOfServer } from "../shared/platforms.js";
import { invalidArgument, permissionDenied } from "../shared/rpc/errors.js";
import type { ApiKeyRecord, GrantRecord, UserRecord } from "./store.js";

const EVERYONE = "public";
const ACCOUNT = "account";
/** Whoever has an exporter of spans: people's agents, and our own processes. */
const EXPORTER = "traces:write";
const PERSON: readonly string[] = [ACCOUNT, EXPORTER, ...SERVERS.flatMap(scopesOfServer)];
const ADMINISTRATOR = "admin";
const SERVICE = "internal";

/** The account as which our own processes call each other; nobody else ever holds the scope `internal`. */
export const SERVICE_LOGIN = "service:sallyport";

/** The scopes that a user holds without any narrowing; a service account never administers. */
export function scopesOf({
  login,
  service,
  admin,
  account,
}: Pick<UserRecord, "login" | "service" | "admin" | "account">): ReadonlySet<string> {
  if (account !== undefined) return new Set([EVERYONE, ...PERSON]);
  if (service) return new Set(login === SERVICE_LOGIN ? [EVERYONE, SERVICE, EXPORTER] : [EVERYONE]);
  return new Set([EVERYONE, ...PERSON, ...(admin ? [ADMINISTRATOR] : [])]);
}

/**
 * What a caller holds while a service of ours calls on in the caller's name:
 * only an exchanged assertion has it, so nobody reaches such an rpc directly.
 */
export const DELEGATED = "delegated";

/** The scopes that a key gives: those of its user, cut to those of the key; its own account it always reaches. */
export function scopesOfKey(user: UserRecord, key: Pick<ApiKeyRecord, "scopes">): ReadonlySet<string> {
  const held = scopesOf(user);
  if (key.scopes === null) return held;
  const { scopes } = key;
  return new Set([...held].filter((scope) => scope === EVERYONE || scope === ACCOUNT || scopes.includes(scope)));
}

/** The scopes that a grant gives: those that the person allowed; their own account it always reaches. */
export function scopesOfGrant(user: UserRecord, { scopes }: Pick<GrantRecord, "scopes">): ReadonlySet<string> {
  return new Set(
    [...scopesOf(user)].filter((scope) => scope === EVERYONE || scope === ACCOUNT || scopes.includes(scope)),
  );
}

/**
 * The scopes of a new key. A caller whose own credential is narrowed hands on
 * no more than it has, or a narrowed key could make itself a full one.
 *
 * @param wanted empty for as much as may be.
 * @param ceiling what the caller may hand on.
 * @throws ConnectError invalid_argument for an unknown scope, permission_denied for one beyond the ceiling.
 */
export function scopesOfNewKey(
  wanted: readonly string[],
  user: UserRecord,
  ceiling: ReadonlySet<string>,
): string[] | null {
  const held = [...scopesOf(user)].filter((scope) => scope !== EVERYONE);
  for (const scope of wanted) {
    if (!held.includes(scope)) {
      throw invalidArgument(`scopes: the user does not have ${JSON.stringify(scope)}, only ${held.join(", ")}`);
    }
    if (!ceiling.has(scope)) {
      throw permissionDenied(`your API key does not have the scope ${scope}, so it cannot give it to another key`);
    }
  }
  if (wanted.length > 0) return [...wanted];
  return held.every((scope) => ceiling.has(scope)) ? null : held.filter((scope) => ceiling.has(scope));
}
