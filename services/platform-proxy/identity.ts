import { Code, ConnectError } from "@connectrpc/connect";
import { LRUCache } from "lru-cache";
import { permissionDenied } from "../shared/rpc/errors.js";
import type { Adapter, Session, Snapshot } from "./adapter.js";
import { readOf } from "./lib/answers.js";

const KEPT_MS = 30_000;
const KEPT = 10_000;

interface Identity {
  readonly me: unknown;
  readonly until: number;
  snapshot?: Promise<Snapshot>;
}

/**
 * Who the platform thinks is calling, asked before the first exchange for a
 * caller and kept for up to 30 seconds.
 */
export interface Identities {
  /** @throws ConnectError permission_denied, where the platform takes the caller for somebody else. */
  me(adapter: Adapter, session: Session): Promise<unknown>;
  /** Asks anew, whatever is kept: the platform has contradicted it. @throws like `me`. */
  meAnew(adapter: Adapter, session: Session): Promise<unknown>;
  snapshot(adapter: Adapter, session: Session): Promise<Snapshot>;
  forget(userId: string): void;
  /** Forgets everybody: other platforms may answer now. */
  clear(): void;
}

/** Makes a store of identities that knows nobody yet; of more than 10,000 the longest unused go. */
export function createIdentities(): Identities {
  const kept = new LRUCache<string, Promise<Identity>>({ max: KEPT });

  const keyOf = (adapter: Adapter, session: Session) => `${session.caller.id} ${adapter.server} ${session.target.url}`;

  function identityOf(adapter: Adapter, session: Session): Promise<Identity> {
    const key = keyOf(adapter, session);
    const found = kept.get(key);
    if (found !== undefined) {
      const again = () => {
        if (kept.get(key) === found) kept.delete(key);
        return identityOf(adapter, session);
      };
      return found.then(
        (identity) => (identity.until > Date.now() ? identity : again()),
        (error: unknown) => {
          if (hasEnded(error) && !session.signal.aborted) return again();
          throw error;
        },
      );
    }
    const asked = ask(adapter, session);
    kept.set(key, asked);
    asked.catch(() => {
      if (kept.get(key) === asked) kept.delete(key);
    });
    return asked;
  }

  return {
    me: async (adapter, session) => (await identityOf(adapter, session)).me,
    async meAnew(adapter, session) {
      kept.delete(keyOf(adapter, session));
      return (await identityOf(adapter, session)).me;
    },
    async snapshot(adapter, session) {
      const identity = await identityOf(adapter, session);
      const shared = identity.snapshot;
      if (shared !== undefined) {
        const found = await shared.catch((error: unknown) => {
          if (hasEnded(error) && !session.signal.aborted) return undefined;
          throw error;
        });
        if (found !== undefined) return found;
      }
      const asked = readOf(adapter.server, () => adapter.snapshot(session, identity.me));
      identity.snapshot = asked;
      asked.catch(() => {
        if (identity.snapshot === asked) delete identity.snapshot;
      });
      return asked;
    },
    clear: () => kept.clear(),
    forget(userId) {
      for (const key of kept.keys()) if (key.startsWith(`${userId} `)) kept.delete(key);
    },
  };
}

/** The call that asked has ended; others that wait for its answer have not. */
function hasEnded(error: unknown): boolean {
  const { code } = ConnectError.from(error);
  return code === Code.Canceled || code === Code.DeadlineExceeded;
}

async function ask(adapter: Adapter, session: Session): Promise<Identity> {
  const { email, me } = await readOf(adapter.server, () => adapter.whoAmI(session));
  // Platforms match addresses ignoring case, and some ignoring accents too.
  if (email.toLowerCase() !== session.caller.email) {
    throw permissionDenied(
      `the ${adapter.server} platform signs you in to an account with another e-mail address; ask an administrator to give both accounts the same address`,
    );
  }
  return { me, until: Date.now() + KEPT_MS };
}
