import type { BearerCredentials, CredentialsEvent } from "../../../services/shared/credentials/credentials.js";
import type { Known, Refusal } from "../../../services/shared/credentials/known.js";
import type { Ended } from "../../../services/shared/credentials/open-responses.js";
import { Member, Ring } from "../../../services/shared/ring.js";
import type { Authenticator, Caller } from "../../../services/shared/rpc/call.js";
import { unauthenticated } from "../../../services/shared/rpc/errors.js";
import { SERVICE_NAMES } from "../../../services/shared/rpc/service.js";

/** Keys in memory: what the façade's side of auth does, without auth. */
export interface Keys extends BearerCredentials {
  readonly authenticator: Authenticator;
  /** Makes a key for a user; the token is the key's name. */
  add(token: string, caller: Partial<Caller> & { readonly scopes: ReadonlySet<string> }): Known;
  /** Refuses the token from now on and ends what it holds open. */
  revoke(token: string): void;
  /** Answers every verification of this token with a refusal. */
  refuse(token: string, reason: Refusal["refused"]): void;
  /** Publishes an event; resolves when every listener has acknowledged it. */
  publish(event: CredentialsEvent): Promise<void>;
  /** Forgets what peek knows, so that the next request verifies. */
  forget(): void;
  /** Tokens that verify was asked about, in order. */
  readonly verified: string[];
  /** The clients that connected, by key and what they call themselves, in order. */
  readonly clients: [string, string][];
  /** Ends what every key holds open, as a lapsed lease does. */
  lapse(): void;
  /** Holds back verifications until the promise resolves. */
  delay: Promise<void>;
  lease: boolean;
}

const SERVICE_CALLER: Caller = {
  id: "facade",
  email: "",
  name: "facade",
  admin: false,
  groups: [],
  scopes: new Set(["internal", "public", "account"]),
  keyId: "",
  service: true,
};

export function createKeys(): Keys {
  const all = new Map<string, Known>();
  const refused = new Map<string, Refusal["refused"]>();
  const peeked = new Map<string, Known>();
  const callers = new Map<string, Caller>();
  const listeners = new Set<(event: CredentialsEvent) => void | Promise<void>>();
  const held = new Map<Known, Ring<Held>>();
  const revoked = new Set<string>();

  const keys: Keys = {
    lease: true,
    delay: Promise.resolve(),
    verified: [],
    clients: [],
    authenticator: {
      authenticate({ authorization, assertion }) {
        if (authorization === "Bearer facade") return { caller: SERVICE_CALLER, assertion: "" };
        const caller = callers.get(assertion ?? "");
        if (caller === undefined) throw unauthenticated("no caller");
        return { caller, assertion: assertion as string };
      },
    },
    add(token, given) {
      const caller: Caller = {
        id: `user of ${token}`,
        email: `${token}@example.com`,
        name: token,
        admin: false,
        groups: [],
        keyId: token,
        service: false,
        ...given,
      };
      const assertions = Object.fromEntries(SERVICE_NAMES.map((name) => [name, `${token} for ${name}`]));
      for (const assertion of Object.values(assertions)) callers.set(assertion, caller);
      const known = { caller, assertions, resource: undefined, expiresAt: Date.now() + 300_000 };
      all.set(token, known);
      return known;
    },
    revoke(token) {
      const known = all.get(token);
      keys.refuse(token, "revoked");
      revoked.add(token);
      if (known !== undefined) for (const { kill } of held.get(known) ?? []) kill("revoked");
    },
    lapse() {
      for (const ring of held.values()) for (const { kill } of ring) kill("unavailable");
    },
    asks: () => true,
    connected: (known, client) => void keys.clients.push([known.caller.keyId, client]),
    isRevoked: ({ caller }) => revoked.has(caller.keyId),
    refuse(token, reason) {
      all.delete(token);
      peeked.delete(token);
      refused.set(token, reason);
    },
    async publish(event) {
      await Promise.all([...listeners].map((listener) => listener(event)));
    },
    forget: () => peeked.clear(),
    peek: (token) => (keys.lease ? peeked.get(token) : undefined),
    async verify(token): Promise<Known | Refusal> {
      keys.verified.push(token);
      await keys.delay;
      const known = all.get(token);
      if (known === undefined) return { refused: refused.get(token) ?? "unknown" };
      peeked.set(token, known);
      return known;
    },
    hold(known, kill) {
      const ring = held.get(known) ?? new Ring<Held>();
      held.set(known, ring);
      const one = new Held(kill);
      ring.enter(one);
      return () => one.leave();
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    leased: () => keys.lease,
  };
  return keys;
}

/** What is told when a key ends, as the product keeps it: a set of many that come and go keeps calls alive. */
class Held extends Member {
  constructor(readonly kill: (ended: Ended) => void) {
    super();
  }
}
