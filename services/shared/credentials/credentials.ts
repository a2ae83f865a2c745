import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Log } from "../process/log.js";
import type { Caller, Credential } from "../rpc/call.js";
import type { Dispatch } from "../rpc/dispatch.js";
import { readAccessToken } from "./access-token.js";
import { isOfIssuer } from "./external-token.js";
import { createKeyFormat, DEFAULT_KEY_PREFIX, type KeyFormat } from "./format.js";
import { type Attested, createInvalidations, type Validity } from "./invalidations.js";
import { type Entry, KeptCredentials } from "./kept-credentials.js";
import type { Known, Refusal } from "./known.js";
import { type Change, createLease, type Lease } from "./lease.js";
import { createOpenResponses, type Ended, type OpenResponses } from "./open-responses.js";
import { type AccessTokenKeys, createAccessTokenKeys } from "./published-keys.js";
import { isSession, sessionIdOf, sessionIn } from "./session.js";
import { reportUsage } from "./usage-report.js";
import { createUsageWriter, type UsageWriter } from "./usage-writer.js";
import { requestVerification } from "./verification-request.js";

/** Something changed, or changes were missed. */
export interface CredentialsEvent {
  readonly kind: "key" | "user" | "setting" | "platform" | "key_ring" | "reach" | "reset";
  /** The id of the key, user, setting or platform, the name of the ring, or {@link EVERYONE}; "" for reset. */
  readonly id: string;
}

/** How a front door learns who presents a bearer token, and for how long it may believe it. */
export interface BearerCredentials {
  /** The hot path: the answer where it is known and may be used, else undefined. Counts the use. */
  peek(token: string): Known | undefined;
  /** Whether auth has to be asked of what `peek` does not know: not where it is malformed or was refused lately. */
  asks(token: string): boolean;
  /** Asks auth where need be, once for all who ask at the same time. Counts the use. */
  verify(token: string): Promise<Known | Refusal>;
  /**
   * Kills an open response when its credential is revoked, its user changes, or
   * nobody has vouched for it for a while; at once where that has happened
   * already. Returns the release.
   */
  hold(known: Known, kill: (ended: Ended) => void): () => void;
  /** Whether the key that somebody came with was revoked since, as far as this process has heard. */
  isRevoked(known: Known): boolean;
  /** Notes that a client connected with a credential, for the next report of its uses. @param client what it calls itself. */
  connected(known: Known, client: string): void;
  /** Hears of changes; a listener is awaited before the change is acknowledged. Returns the removal. */
  onEvent(listener: (event: CredentialsEvent) => void | Promise<void>): () => void;
  /** This process hears of every change at once. */
  leased(): boolean;
}

/**
 * What one process knows of the credentials it has seen, kept under a lease:
 * once RevokeApiKey has returned, nobody here accepts that key.
 */
export interface Credentials extends BearerCredentials {
  /** What the events since have made of something that auth attested. */
  validityOf(attested: Attested): Validity;
  /** As `hold`, for a caller whom a service established itself. */
  holdCaller(caller: Caller, kill: () => void): () => void;
  /** Reports the last uses and gives up the lease. */
  close(): Promise<void>;
}

/** What a process's credentials are made with. */
export interface CredentialsOptions {
  readonly dispatch: Dispatch;
  /** This process's own credential, with the scope `internal`. */
  readonly credential: Credential;
  readonly log: Log;
  /** The prefix of API keys. */
  readonly keyPrefix?: string;
  /** The issuer of an authorization server of others whose access tokens auth takes. */
  readonly externalIssuer?: string | undefined;
  /** How many credentials are kept. */
  readonly kept?: number;
}

/** Assertions are renewed while they have this long to live, so that a busy credential never waits. */
const RENEW_BEFORE_MS = 60_000;
const RENEW_RETRY_MS = 5_000;
/** How long auth may take for a verification while it is heard from: it may have many bcrypts to do before. */
const ALIVE_MS = 20_000;
/** How long where it is not. */
const SILENT_MS = 5_000;
/** How long a forged token is remembered; no longer, for its key may be one that has just begun to sign. */
const FORGED_MS = 3_000;
/** The ring whose keys no process of ours verifies by. */
const PLATFORM_RING = "platform";
/** An event may overtake an answer; so often is asked again. */
const ATTEMPTS = 3;
/** Auth processes look for each other's events more often than that. */
const LAG_MS = 50;

/** Begins to keep credentials, and to watch for what changes them. */
export function createCredentials(options: CredentialsOptions): Credentials {
  return new LeasedCredentials(options);
}

class LeasedCredentials implements Credentials {
  readonly #options: CredentialsOptions;
  readonly #format: KeyFormat;
  readonly #tokenKeys: AccessTokenKeys;
  readonly #kept: KeptCredentials;
  readonly #requests = new Map<string, Promise<Entry | Refusal>>();
  readonly #listeners = new Set<(event: CredentialsEvent) => void | Promise<void>>();
  readonly #invalidations = createInvalidations();
  readonly #uses: UsageWriter;
  readonly #lease: Lease;
  readonly #open: OpenResponses;
  #sweeping = false;

  constructor(options: CredentialsOptions) {
    const { dispatch, credential, log, keyPrefix = DEFAULT_KEY_PREFIX, kept = 100_000 } = options;
    this.#options = options;
    this.#format = createKeyFormat(keyPrefix);
    this.#kept = new KeptCredentials(kept);
    this.#tokenKeys = createAccessTokenKeys(dispatch);
    const events = {
      event: (change: Change) => this.#apply(change),
      reset: (seq: number) => this.#reset(seq),
    };
    this.#lease = createLease({ dispatch, credential, log, events });
    this.#open = createOpenResponses(this.#lease);
    this.#uses = createUsageWriter({
      write: (usages) => reportUsage({ dispatch, credential }, usages),
      failed: (error) =>
        log.warn({ err: error }, "uses of API keys cannot be reported; they are kept and reported later"),
    });
  }

  peek(token: string): Known | undefined {
    const entry = this.#kept.get(token);
    if (entry === undefined || !this.#lease.held() || this.validityOf(entry) !== "valid") return undefined;
    const now = Date.now();
    if (now >= entry.known.expiresAt) return undefined;
    if (now >= entry.renewAt) {
      entry.renewAt = now + RENEW_RETRY_MS;
      if (!this.#requests.has(token)) void this.#request(token);
    }
    this.#uses.counter.use(entry.usage, now);
    return entry.known;
  }

  asks(token: string): boolean {
    return this.#refusalOf(token) === undefined;
  }

  async verify(token: string): Promise<Known | Refusal> {
    const known = this.peek(token);
    if (known !== undefined) return known;
    const refusal = this.#refusalOf(token);
    if (refusal !== undefined) return refusal;
    const answer = await this.#shared(token);
    if ("refused" in answer) return answer;
    if (this.validityOf(answer) === "revoked") return { refused: "revoked" };
    this.#uses.counter.use(answer.usage, Date.now());
    return answer.known;
  }

  hold(known: Known, kill: (ended: Ended) => void): () => void {
    const entry = this.#kept.entryOf(known);
    if (entry !== undefined && this.validityOf(entry) === "valid") return this.#open.add(known.caller, kill);
    // The event came between the answer and now.
    const ended = this.isRevoked(known) ? "revoked" : "unavailable";
    queueMicrotask(() => kill(ended));
    return () => undefined;
  }

  connected(known: Known, client: string): void {
    const usage = this.#kept.entryOf(known)?.usage;
    if (usage === undefined || client === "") return;
    this.#uses.counter.connect(usage, client, Date.now());
  }

  holdCaller(caller: Caller, kill: () => void): () => void {
    // Established this moment, as of every event so far: what can have gone is its key.
    const validity = this.validityOf({ keyId: caller.keyId, userId: caller.id, seq: Number.POSITIVE_INFINITY });
    return this.#holdWhile(validity, caller, kill);
  }

  #holdWhile(validity: Validity | undefined, caller: Caller, kill: () => void): () => void {
    if (validity === "valid") return this.#open.add(caller, kill);
    // The event came between the answer and now.
    queueMicrotask(kill);
    return () => undefined;
  }

  onEvent(listener: (event: CredentialsEvent) => void | Promise<void>): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  validityOf(attested: Attested): Validity {
    return this.#invalidations.validityOf(attested);
  }

  leased(): boolean {
    return this.#lease.held();
  }

  isRevoked({ caller }: Known): boolean {
    return this.validityOf({ keyId: caller.keyId, userId: "", seq: Number.POSITIVE_INFINITY }) === "revoked";
  }

  async close(): Promise<void> {
    await this.#uses.close();
    // Nobody waits for this process once its lease is given back.
    this.#open.kill(() => true, "unavailable");
    await this.#lease.close();
  }

  #apply({ seq, kind, id }: Change): Promise<void> | undefined {
    // Invalid at once; the listeners may take their time before it is acknowledged.
    if (kind === "key") {
      this.#invalidations.revokeKey(id, seq);
      this.#changed(({ keyId }) => keyId === id, "revoked");
    } else if (kind === "user") {
      this.#invalidations.changeUser(id, seq);
      this.#changed(({ id: callerId, account }) => callerId === id || account?.id === id, "unavailable");
    } else if (kind === "key_ring" && id !== PLATFORM_RING) {
      // What is kept may go back to a forgery, and the assertions in it are refused by now.
      this.#tokenKeys.drop();
      this.#invalidations.reset(seq);
      this.#changed(() => true, "unavailable");
    }
    return this.#listeners.size === 0 ? undefined : this.#tell({ kind, id });
  }

  #reset(seq: number): Promise<void> {
    this.#tokenKeys.drop();
    this.#invalidations.reset(seq);
    this.#changed(() => true, "unavailable");
    return this.#tell({ kind: "reset", id: "" });
  }

  async #tell(event: CredentialsEvent): Promise<void> {
    for (const listener of [...this.#listeners]) await listener(event);
  }

  /** What the events made invalid is not used from now on, and swept out once for all events that come together. */
  #changed(whose: (caller: Caller) => boolean, ended: Ended): void {
    this.#kept.forgetRefusals();
    this.#open.kill(whose, ended);
    if (this.#sweeping) return;
    this.#sweeping = true;
    setImmediate(() => {
      this.#sweeping = false;
      this.#kept.forget((entry) => this.validityOf(entry) !== "valid");
    });
  }

  /** Why a token is refused without asking anybody. */
  #refusalOf(token: string): Refusal | undefined {
    const id = this.#idIn(token);
    if (id === undefined) return this.#isExternal(token) ? this.#kept.refusalOf(token) : { refused: "malformed" };
    const key = { keyId: id, userId: "", seq: Number.POSITIVE_INFINITY };
    return this.validityOf(key) === "revoked" ? { refused: "revoked" } : this.#kept.refusalOf(token);
  }

  /** The id by which a key, grant or session is revoked, as the token tells it; undefined for none of ours. */
  #idIn(token: string): string | undefined {
    const session = sessionIn(token);
    if (session !== undefined) return sessionIdOf(session);
    return isSession(token) ? undefined : (this.#format.parse(token)?.keyId ?? readAccessToken(token)?.gid);
  }

  #isExternal(token: string): boolean {
    const { externalIssuer } = this.#options;
    return externalIssuer !== undefined && isOfIssuer(token, externalIssuer);
  }

  /**
   * The answer to a request made before this one began counts for it only under
   * a lease: without one, a revocation may have been acknowledged between.
   */
  async #shared(token: string): Promise<Entry | Refusal> {
    const running = this.#requests.get(token);
    if (running !== undefined && this.#lease.held()) {
      const answer = await running;
      if (this.#lease.held()) return answer;
    }
    return this.#request(token);
  }

  #request(token: string): Promise<Entry | Refusal> {
    const running = this.#verified(token).finally(() => {
      if (this.#requests.get(token) === running) this.#requests.delete(token);
    });
    this.#requests.set(token, running);
    return running;
  }

  async #verified(token: string): Promise<Entry | Refusal> {
    const { dispatch, credential, log } = this.#options;
    if (readAccessToken(token) !== undefined && !this.#isExternal(token)) {
      const forged = await this.#forged(token);
      if (forged !== undefined) return forged;
    }
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const waitMs = this.#lease.held() ? ALIVE_MS : SILENT_MS;
      const answer = await requestVerification({ dispatch, credential, log }, token, waitMs);
      if ("refused" in answer) {
        const refusal: Refusal = { refused: answer.refused };
        if (refusal.refused !== "unavailable") this.#kept.refuse(token, refusal, answer.rememberMs);
        return refusal;
      }
      const { known, seq, assertionsUntil } = answer;
      const { keyId, id: userId } = known.caller;
      const renewAt = assertionsUntil - RENEW_BEFORE_MS * (1 + Math.random() / 2);
      const entry: Entry = { known, keyId, userId, seq, usage: this.#uses.counter.of(keyId), renewAt };
      const validity = this.validityOf(entry);
      if (validity === "revoked") return { refused: "revoked" };
      // An event overtook the answer: it may tell of the user as before.
      if (validity === "stale") {
        // Another auth process told of it than the one that was asked, which reads it a moment later.
        if (attempt > 0) await sleep(LAG_MS);
        continue;
      }
      this.#kept.keep(token, entry);
      return entry;
    }
    return { refused: "unavailable" };
  }

  /** Why an access token is refused by its signature and its claims alone: auth is not asked of what anybody can write. */
  async #forged(token: string): Promise<Refusal | undefined> {
    try {
      await this.#tokenKeys.verify(token);
      return undefined;
    } catch (error) {
      if (ConnectError.from(error).code !== Code.Unauthenticated) return { refused: "unavailable" };
      const refusal: Refusal = { refused: "unknown" };
      this.#kept.refuse(token, refusal, FORGED_MS);
      return refusal;
    }
  }
}
