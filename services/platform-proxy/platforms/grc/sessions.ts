import { Code, ConnectError } from "@connectrpc/connect";
import { canceled } from "../../../shared/rpc/errors.js";
import type { Session, Target } from "../../adapter.js";
import type { HttpClient } from "../../lib/http.js";
import { exchangeRefusalOf } from "./errors.js";

/**
 * The platform's own sessions of our users, exchanged for our token. They are
 * kept in memory only, one exchange at a time for a user, and ended at the
 * platform when they have been idle, when the user is forgotten, and at close.
 */
export interface CisoSessions {
  /** The user's session key; exchanged where there is none. */
  keyOf(session: Session): Promise<string>;
  /** A key other than the one that the platform no longer takes. */
  renew(session: Session, refused: string): Promise<string>;
  forget(userId: string): Promise<void>;
  close(): Promise<void>;
}

interface Kept {
  readonly userId: string;
  readonly target: Target;
  readonly http: HttpClient;
  readonly flight: Promise<string>;
  key: string | undefined;
  usedAt: number;
}

const EXCHANGE = "/api/_allauth/app/v1/auth/provider/token";
const LOGOUT = "/api/iam/logout/";
const EXCHANGE_MS = 10_000;
const LOGOUT_MS = 5_000;
const MAX_KEPT = 10_000;

/** @param idleMs how long a session is kept without use. */
export function createCisoSessions(idleMs: number): CisoSessions {
  const kept = new Map<string, Kept>();
  const timer = setInterval(
    () => {
      for (const entry of kept.values()) if (entry.usedAt + idleMs < Date.now()) void drop(entry);
    },
    Math.ceil(idleMs / 4),
  );
  timer.unref();

  function open(session: Session): Kept {
    const entry: Kept = {
      userId: session.caller.id,
      target: session.target,
      http: session.http,
      flight: exchange(session),
      key: undefined,
      usedAt: Date.now(),
    };
    entry.flight.then(
      (key) => {
        entry.key = key;
      },
      () => {
        if (kept.get(nameOf(session)) === entry) kept.delete(nameOf(session));
      },
    );
    const oldest = kept.size >= MAX_KEPT ? kept.values().next().value : undefined;
    if (oldest !== undefined) void drop(oldest);
    kept.set(nameOf(session), entry);
    return entry;
  }

  async function drop(entry: Kept): Promise<void> {
    const name = `${entry.userId} ${entry.target.url}`;
    if (kept.get(name) === entry) kept.delete(name);
    try {
      await logout(entry, await entry.flight);
    } catch {
      // It ends by itself at the platform, within the hour.
    }
  }

  async function keyOf(session: Session): Promise<string> {
    const name = nameOf(session);
    const found = kept.get(name);
    if (found === undefined) return waitFor(open(session).flight, session.signal);
    // The order of the map is that of use.
    kept.delete(name);
    kept.set(name, found);
    found.usedAt = Date.now();
    try {
      return await waitFor(found.flight, session.signal);
    } catch (error) {
      const ended =
        error instanceof ConnectError && (error.code === Code.Canceled || error.code === Code.DeadlineExceeded);
      if (!ended || session.signal.aborted) throw error;
      // Another call of the user began the exchange and went away.
      return waitFor((kept.get(name) ?? open(session)).flight, session.signal);
    }
  }

  return {
    keyOf,
    renew(session, refused) {
      const found = kept.get(nameOf(session));
      if (found?.key === refused) kept.delete(nameOf(session));
      return keyOf(session);
    },
    async forget(userId) {
      await Promise.all([...kept.values()].filter((entry) => entry.userId === userId).map(drop));
    },
    async close() {
      clearInterval(timer);
      await Promise.all([...kept.values()].map(drop));
    },
  };
}

function nameOf(session: Session): string {
  return `${session.caller.id} ${session.target.url}`;
}

async function exchange(session: Session): Promise<string> {
  const { target, tool, traceparent, http } = session;
  const body = {
    provider: "openid_connect",
    process: "login",
    // Its adapter takes each token once.
    token: { client_id: target.clientId, id_token: await session.token(true) },
  };
  // Not the caller's own signal: others wait for the same exchange.
  const signal = AbortSignal.timeout(EXCHANGE_MS);
  const reply = await http.send(
    { target, tool, traceparent, signal },
    { verb: "POST", path: EXCHANGE, headers: { "accept-language": "en" }, body, read: true, once: true },
  );
  if (reply.status !== 200) throw exchangeRefusalOf(reply);
  const key = reply.json<{ meta?: { access_token?: unknown } }>().meta?.access_token;
  if (typeof key !== "string" || key === "") throw exchangeRefusalOf(reply);
  return key;
}

async function logout({ target, http }: Kept, key: string): Promise<void> {
  await http.send(
    { target, tool: "logout", signal: AbortSignal.timeout(LOGOUT_MS) },
    {
      verb: "POST",
      path: LOGOUT,
      headers: { authorization: `Token ${key}`, "accept-language": "en" },
      read: true,
      once: true,
    },
  );
}

function waitFor<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(canceled("the call was cancelled"));
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(canceled("the call was cancelled"));
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
