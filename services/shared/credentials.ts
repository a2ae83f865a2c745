import type { MessageShape } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type CallerIdentitySchema,
  CredentialService,
  type VerifiedCaller,
  type VerifyCredentialResponse,
} from "#proto/auth/v1/credential_service_pb.js";
import type { Caller, Credential } from "./call.js";
import { createKeyFormat, DEFAULT_KEY_PREFIX } from "./credentials-format.js";
import { createUsageCounter, type Usage } from "./credentials-usage.js";
import type { Dispatch } from "./dispatch.js";
import { type Change, createLease } from "./lease.js";
import { createStandings, type Standing, type Vouched } from "./lease-standing.js";
import type { Log } from "./log.js";

/** Who a credential stands for, and how services recognise the caller. */
export interface Known {
  readonly caller: Caller;
  /** The caller's assertion for each service, by the service's name. */
  readonly assertions: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch; after it the credential has to be verified again. */
  readonly expiresAt: number;
}

/** Why a credential is refused. Only `throttled` and `unavailable` can change by waiting. */
export interface Refusal {
  readonly refused: "malformed" | "unknown" | "expired" | "revoked" | "throttled" | "disabled" | "unavailable";
}

/** Something changed, or changes were missed. */
export interface CredentialsEvent {
  readonly kind: "key" | "user" | "setting" | "platform" | "reset";
  /** The id of the key, user, setting or platform; "" for reset. */
  readonly id: string;
}

/**
 * What one process knows of the credentials it has seen, kept under a lease:
 * once RevokeApiKey has returned, nobody here accepts that key.
 */
export interface Credentials {
  /** The hot path: the answer where it is known and may be used, else undefined. Counts the use. */
  peek(token: string): Known | undefined;
  /** Asks auth where need be, once for all who ask at the same time. Counts the use. */
  verify(token: string): Promise<Known | Refusal>;
  /** Kills an open response when its credential is revoked, its user changes, or the lease lapses; returns the release. */
  hold(known: Known, kill: () => void): () => void;
  /** Hears of changes; a listener is awaited before the change is acknowledged. Returns the removal. */
  onEvent(listener: (event: CredentialsEvent) => void | Promise<void>): () => void;
  /** How something vouched for by auth stands after the events since. */
  standing(vouched: Vouched): Standing;
  /** This process hears of every change at once. */
  leased(): boolean;
  /** Reports the last uses and gives up the lease. */
  close(): Promise<void>;
}

export interface CredentialsOptions {
  readonly dispatch: Dispatch;
  /** This process's own credential, with the scope `internal`. */
  readonly credential: Credential;
  readonly log: Log;
  /** The prefix of API keys. */
  readonly keyPrefix?: string;
  /** How often uses are reported, in milliseconds. */
  readonly reportMs?: number;
  /** How many credentials are kept. */
  readonly kept?: number;
}

interface Entry extends Vouched {
  readonly known: Known;
  readonly usage: Usage;
  /** Milliseconds since the epoch from which the answer is renewed while it is used. */
  renewAt: number;
}

const REFUSALS_KEPT = 10_000;
const VERIFY_DEADLINE_MS = 5_000;
const REPORT_LIMIT = 10_000;
/** Assertions are renewed while they have this long to live, so that a busy credential never waits. */
const RENEW_BEFORE_MS = 60_000;
const RENEW_RETRY_MS = 5_000;
/** A response opened before the first lease is held for this long without one. */
const UNLEASED_HOLD_MS = 3_000;
const REASONS: ReadonlySet<string> = new Set<Refusal["refused"]>([
  "malformed",
  "unknown",
  "expired",
  "revoked",
  "throttled",
  "disabled",
]);

/**
 * The tokens themselves are the keys of the map: its look-up is the cheapest
 * there is, V8 seeds its string hashes at random for each process, and the
 * tokens pass through this process's memory with every request anyway. They
 * are never logged and leave the map with their entry.
 */
export function createCredentials(options: CredentialsOptions): Credentials {
  const { dispatch, credential, log, keyPrefix = DEFAULT_KEY_PREFIX, reportMs = 60_000, kept = 100_000 } = options;
  const format = createKeyFormat(keyPrefix);
  const entries = new Map<string, Entry>();
  const refusals = new Map<string, { readonly refusal: Refusal; readonly until: number }>();
  const asking = new Map<string, Promise<Entry | Refusal>>();
  const entryOfKnown = new WeakMap<Known, Entry>();
  const holds = new Set<{ readonly caller: Caller; readonly kill: () => void }>();
  const listeners = new Set<(event: CredentialsEvent) => void | Promise<void>>();
  const standings = createStandings();
  const usage = createUsageCounter();

  async function tell(event: CredentialsEvent): Promise<void> {
    for (const listener of [...listeners]) await listener(event);
  }

  function drop(gone: (caller: Caller) => boolean): void {
    for (const [token, { known }] of entries) if (gone(known.caller)) entries.delete(token);
    for (const hold of [...holds]) if (gone(hold.caller)) release(hold);
  }

  function release(hold: { readonly kill: () => void }): void {
    holds.delete(hold as never);
    hold.kill();
  }

  const lease = createLease({
    dispatch,
    credential,
    log,
    events: {
      event({ seq, kind, id }: Change) {
        // Dead at once; the listeners may take their time before it is acknowledged.
        if (kind === "key") {
          standings.killKey(id, seq);
          drop(({ keyId }) => keyId === id);
        } else if (kind === "user") {
          standings.touchUser(id, seq);
          drop((caller) => caller.id === id);
          refusals.clear();
        }
        return listeners.size === 0 ? undefined : tell({ kind, id });
      },
      reset(seq) {
        standings.floor(seq);
        refusals.clear();
        drop(() => true);
        return tell({ kind: "reset", id: "" });
      },
    },
  });

  let lapse: NodeJS.Timeout | undefined;
  /** Ends what is held open once the lease has lapsed: without it nobody would hear of a revocation. */
  function watchLapse(graceMs: number): void {
    lapse ??= setTimeout(() => {
      lapse = undefined;
      if (lease.held()) {
        if (holds.size > 0) watchLapse(0);
      } else for (const hold of [...holds]) release(hold);
    }, Math.max(lease.left(), graceMs) + 1).unref();
  }

  async function ask(token: string): Promise<Entry | Refusal> {
    for (let attempt = 0; attempt < 3; attempt++) {
      let answer: VerifyCredentialResponse;
      try {
        answer = await dispatch.unary(
          CredentialService.method.verifyCredential,
          { token },
          { credential, deadline: Date.now() + VERIFY_DEADLINE_MS },
        );
      } catch (error) {
        const { code } = ConnectError.from(error);
        if (code === Code.ResourceExhausted) return { refused: "throttled" };
        log.warn({ err: error }, "a credential cannot be verified");
        return { refused: "unavailable" };
      }
      const { outcome } = answer;
      if (outcome.case === "verified") {
        const entry = entryOf(outcome.value);
        const standing = standings.of(entry);
        if (standing === "dead") return { refused: "revoked" };
        // An event overtook the answer: it may tell of the user as before.
        if (standing === "old") continue;
        keep(token, entry);
        return entry;
      }
      if (outcome.case === undefined) return { refused: "unavailable" };
      const { reason, rememberMs } = outcome.value;
      const refusal: Refusal = { refused: REASONS.has(reason) ? (reason as Refusal["refused"]) : "unknown" };
      entries.delete(token);
      if (rememberMs > 0) {
        if (refusals.size >= REFUSALS_KEPT) refusals.delete(refusals.keys().next().value as string);
        refusals.set(token, { refusal, until: Date.now() + rememberMs });
      }
      return refusal;
    }
    return { refused: "unavailable" };
  }

  function askOnce(token: string): Promise<Entry | Refusal> {
    const asked = ask(token).finally(() => {
      if (asking.get(token) === asked) asking.delete(token);
    });
    asking.set(token, asked);
    return asked;
  }

  function entryOf({ caller, assertions, assertionsExpireAt, credentialExpiresAt, seq }: VerifiedCaller): Entry {
    const who = callerOf(caller as MessageShape<typeof CallerIdentitySchema>);
    const assertionsUntil = assertionsExpireAt === undefined ? 0 : timestampMs(assertionsExpireAt);
    const credentialUntil =
      credentialExpiresAt === undefined ? Number.POSITIVE_INFINITY : timestampMs(credentialExpiresAt);
    return {
      known: { caller: who, assertions, expiresAt: Math.min(assertionsUntil, credentialUntil) },
      keyId: who.keyId,
      userId: who.id,
      seq: Number(seq),
      usage: usage.of(who.keyId),
      renewAt: assertionsUntil - RENEW_BEFORE_MS * (1 + Math.random() / 2),
    };
  }

  function keep(token: string, entry: Entry): void {
    entries.delete(token);
    if (entries.size >= kept) entries.delete(entries.keys().next().value as string);
    entries.set(token, entry);
    entryOfKnown.set(entry.known, entry);
  }

  function count({ usage: counted }: Entry, now: number): void {
    counted.uses++;
    counted.lastUsedAt = now;
  }

  function renew(token: string, entry: Entry, now: number): void {
    entry.renewAt = now + RENEW_RETRY_MS;
    if (!asking.has(token)) void askOnce(token);
  }

  function peek(token: string): Known | undefined {
    const entry = entries.get(token);
    if (entry === undefined || !lease.held()) return undefined;
    const now = Date.now();
    if (now >= entry.known.expiresAt) return undefined;
    if (now >= entry.renewAt) renew(token, entry, now);
    count(entry, now);
    return entry.known;
  }

  async function verify(token: string): Promise<Known | Refusal> {
    const known = peek(token);
    if (known !== undefined) return known;
    const parts = format.parse(token);
    if (parts === undefined) return { refused: "malformed" };
    if (standings.of({ keyId: parts.keyId, userId: "", seq: Number.POSITIVE_INFINITY }) === "dead") {
      return { refused: "revoked" };
    }
    const remembered = refusals.get(token);
    if (remembered !== undefined && remembered.until > Date.now()) return remembered.refusal;
    const answer = await shared(token);
    if ("refused" in answer) return answer;
    if (standings.of(answer) === "dead") return { refused: "revoked" };
    count(answer, Date.now());
    return answer.known;
  }

  /**
   * The answer to a question asked before this request began counts for it only
   * under a lease: without one, a revocation may have been acknowledged between.
   */
  async function shared(token: string): Promise<Entry | Refusal> {
    const asked = asking.get(token);
    if (asked !== undefined && lease.held()) {
      const answer = await asked;
      if (lease.held()) return answer;
    }
    return askOnce(token);
  }

  async function report(): Promise<void> {
    for (;;) {
      const taken = usage.take(REPORT_LIMIT);
      if (taken.length === 0) return;
      try {
        const usages = taken.map(({ keyId, uses, lastUsedAt }) => ({
          keyId,
          uses,
          lastUsedAt: timestampFromMs(lastUsedAt),
        }));
        await dispatch.unary(
          CredentialService.method.reportUsage,
          { usages },
          { credential, deadline: Date.now() + VERIFY_DEADLINE_MS },
        );
      } catch (error) {
        usage.restore(taken);
        log.warn({ err: error }, "uses of API keys cannot be reported; they are counted on");
        return;
      }
    }
  }
  const reporting = setInterval(() => void report(), reportMs).unref();

  return {
    peek,
    verify,
    hold(known, kill) {
      const hold = { caller: known.caller, kill };
      const entry = entryOfKnown.get(known);
      // The event may have come between the answer and now.
      if (entry === undefined || standings.of(entry) !== "good") {
        queueMicrotask(kill);
        return () => undefined;
      }
      holds.add(hold);
      watchLapse(lease.held() ? 0 : UNLEASED_HOLD_MS);
      return () => {
        holds.delete(hold);
      };
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    standing: standings.of,
    leased: lease.held,
    async close() {
      clearInterval(reporting);
      await report();
      clearTimeout(lapse);
      lease.close();
      for (const hold of [...holds]) release(hold);
    },
  };
}

/** A caller as auth describes it. */
function callerOf(identity: MessageShape<typeof CallerIdentitySchema>): Caller {
  const { id, email, name, admin, groups, scopes, keyId, service } = identity;
  return { id, email, name, admin, groups, scopes: new Set(scopes), keyId, service };
}
