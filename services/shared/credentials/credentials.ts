import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import type { Log } from "../process/log.js";
import type { Caller, Credential } from "../rpc/call.js";
import type { Dispatch } from "../rpc/dispatch.js";
import { createKeyFormat, DEFAULT_KEY_PREFIX } from "./format.js";
import { createHolds } from "./holds.js";
import { type Change, createLease } from "./lease.js";
import { createStandings, type Standing, type Vouched } from "./lease-standing.js";
import { askAuth } from "./question.js";
import { createUsageCounter, type Usage } from "./usage.js";

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
const REPORT_DEADLINE_MS = 5_000;
const REPORT_LIMIT = 10_000;
/** Assertions are renewed while they have this long to live, so that a busy credential never waits. */
const RENEW_BEFORE_MS = 60_000;
const RENEW_RETRY_MS = 5_000;

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
  const entryOfKnown = new WeakMap<Known, Entry>();
  const refusals = new Map<string, { readonly refusal: Refusal; readonly until: number }>();
  const asking = new Map<string, Promise<Entry | Refusal>>();
  const listeners = new Set<(event: CredentialsEvent) => void | Promise<void>>();
  const standings = createStandings();
  const usage = createUsageCounter();

  const lease = createLease({
    dispatch,
    credential,
    log,
    events: {
      event({ seq, kind, id }: Change) {
        // Dead at once; the listeners may take their time before it is acknowledged.
        if (kind === "key") {
          standings.killKey(id, seq);
          changed(({ keyId }) => keyId === id);
        } else if (kind === "user") {
          standings.touchUser(id, seq);
          changed((caller) => caller.id === id);
        }
        return listeners.size === 0 ? undefined : tell({ kind, id });
      },
      reset(seq) {
        standings.floor(seq);
        changed(() => true);
        return tell({ kind: "reset", id: "" });
      },
    },
  });
  const holds = createHolds(lease);

  async function tell(event: CredentialsEvent): Promise<void> {
    for (const listener of [...listeners]) await listener(event);
  }

  let sweeping = false;
  /** What the events made bad is not used from now on, and swept out once for all events that come together. */
  function changed(whose: (caller: Caller) => boolean): void {
    refusals.clear();
    holds.kill(whose);
    if (sweeping) return;
    sweeping = true;
    setImmediate(() => {
      sweeping = false;
      for (const [token, entry] of entries) if (standings.of(entry) !== "good") entries.delete(token);
    });
  }

  function keep(token: string, entry: Entry): void {
    entries.delete(token);
    if (entries.size >= kept) entries.delete(entries.keys().next().value as string);
    entries.set(token, entry);
    entryOfKnown.set(entry.known, entry);
  }

  function remember(token: string, refusal: Refusal, ms: number): void {
    entries.delete(token);
    if (ms === 0) return;
    if (refusals.size >= REFUSALS_KEPT) refusals.delete(refusals.keys().next().value as string);
    refusals.set(token, { refusal, until: Date.now() + ms });
  }

  async function ask(token: string): Promise<Entry | Refusal> {
    for (let attempt = 0; attempt < 3; attempt++) {
      const answer = await askAuth(dispatch, credential, log, token);
      if ("refused" in answer) {
        const refusal: Refusal = { refused: answer.refused };
        if (refusal.refused !== "unavailable") remember(token, refusal, answer.rememberMs);
        return refusal;
      }
      const { known, seq, assertionsUntil } = answer;
      const entry: Entry = {
        known,
        keyId: known.caller.keyId,
        userId: known.caller.id,
        seq,
        usage: usage.of(known.caller.keyId),
        renewAt: assertionsUntil - RENEW_BEFORE_MS * (1 + Math.random() / 2),
      };
      const standing = standings.of(entry);
      if (standing === "dead") return { refused: "revoked" };
      // An event overtook the answer: it may tell of the user as before.
      if (standing === "old") continue;
      keep(token, entry);
      return entry;
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

  function count({ usage: counted }: Entry, now: number): void {
    counted.uses++;
    counted.lastUsedAt = now;
  }

  function peek(token: string): Known | undefined {
    const entry = entries.get(token);
    if (entry === undefined || !lease.held() || standings.of(entry) !== "good") return undefined;
    const now = Date.now();
    if (now >= entry.known.expiresAt) return undefined;
    if (now >= entry.renewAt) {
      entry.renewAt = now + RENEW_RETRY_MS;
      if (!asking.has(token)) void askOnce(token);
    }
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

  async function report(): Promise<void> {
    for (;;) {
      const taken = usage.take(REPORT_LIMIT);
      if (taken.length === 0) return;
      try {
        await dispatch.unary(
          CredentialService.method.reportUsage,
          { usages: taken.map((counted) => ({ ...counted, lastUsedAt: timestampFromMs(counted.lastUsedAt) })) },
          { credential, deadline: Date.now() + REPORT_DEADLINE_MS },
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
      const entry = entryOfKnown.get(known);
      if (entry !== undefined && standings.of(entry) === "good") return holds.add(known.caller, kill);
      // The event came between the answer and now.
      queueMicrotask(kill);
      return () => undefined;
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
      // Nobody waits for this process once its lease is given back.
      holds.kill(() => true);
      await lease.close();
    },
  };
}
