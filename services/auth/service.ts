import { availableParallelism } from "node:os";
import { createKeyFormat, DEFAULT_KEY_PREFIX } from "../shared/credentials/format.js";
import { createUsageCounter } from "../shared/credentials/usage.js";
import type { Log } from "../shared/process/log.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { AuthenticatingService } from "../shared/rpc/service.js";
import type { Store } from "../shared/store/store.js";
import { createAssertionMint } from "./assertion-mint.js";
import { createAuthAuthenticator } from "./authenticator.js";
import { openKeyRing } from "./key-ring.js";
import { createPlatformTokens } from "./platform-tokens.js";
import { routes } from "./routes.js";
import { createSemaphore } from "./semaphore.js";
import { openAuthStore } from "./store.js";
import { takeTenure } from "./tenure.js";
import { writeUsage } from "./usage-report.js";
import { createKeyVerification } from "./verification.js";
import { createWatchHub, LEASE_MARGIN } from "./watch-hub.js";

export interface AuthOptions {
  /** Stays open: who opened it closes it. */
  readonly store: Store;
  /** The public base URL: the issuer of platform tokens. */
  readonly baseUrl: string;
  readonly log: Log;
  /** What API keys begin with. */
  readonly keyPrefix?: string;
  /** How long a watcher may use what it keeps, in milliseconds. */
  readonly leaseMs?: number;
  /**
   * How long leases of a process before this one may still run, in
   * milliseconds; 0 where every watcher lived in that very process. Until then
   * nothing published returns.
   */
  readonly fenceMs?: number;
  /** How to reach the other services; undefined while they are not there. */
  readonly peersOf?: () => Peers | undefined;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Services keep the key set for five minutes, assertions live for five. */
const ASSERTION_RING = { leadMs: 10 * MINUTE, graceMs: 10 * MINUTE, rotateMs: 7 * DAY };
/** Platforms keep the key set for an hour. */
const PLATFORM_RING = { leadMs: 2 * HOUR, graceMs: 2 * HOUR, rotateMs: 30 * DAY };
const HASHES_WAITING = 200;
const USES_WRITTEN = 10_000;

/** The auth service: who is calling, and what is signed in their name. */
export async function createAuthService({
  store,
  baseUrl,
  log,
  keyPrefix = DEFAULT_KEY_PREFIX,
  leaseMs = 3_000,
  fenceMs,
  peersOf = () => undefined,
}: AuthOptions): Promise<AuthenticatingService> {
  const records = await openAuthStore(store);
  const assertionRing = await openKeyRing(records, "assertion", ASSERTION_RING);
  const platformRing = await openKeyRing(records, "platform", PLATFORM_RING);

  const holdMs = leaseMs / 3;
  const tenure = await takeTenure(records, holdMs);
  const inherited = tenure.epoch === 1 ? 0 : holdMs + leaseMs * LEASE_MARGIN;
  const hub = createWatchHub({ tenure, leaseMs, fenceMs: fenceMs ?? inherited });

  const hashing = createSemaphore(availableParallelism(), HASHES_WAITING);
  const format = createKeyFormat(keyPrefix);
  const verification = createKeyVerification(records, format, hashing, () => hub.seq);
  const usage = createUsageCounter();

  async function writeOwnUsage(): Promise<void> {
    const taken = usage.take(USES_WRITTEN);
    try {
      await writeUsage(records, taken);
    } catch (error) {
      usage.restore(taken);
      log.warn({ err: error }, "uses of API keys cannot be written down; they are counted on");
    }
  }
  async function tendRings(): Promise<void> {
    try {
      await Promise.all([assertionRing.tend(), platformRing.tend()]);
    } catch (error) {
      log.error({ err: error }, "signing keys cannot be rotated");
    }
  }
  const timers = [setInterval(() => void writeOwnUsage(), MINUTE), setInterval(() => void tendRings(), MINUTE)];
  for (const timer of timers) timer.unref();

  return {
    name: "auth",
    methods: routes({
      records,
      format,
      hub,
      verification,
      usage,
      assertionRing,
      assertions: createAssertionMint(assertionRing),
      platformRing,
      platformTokens: createPlatformTokens(platformRing, baseUrl.replace(/\/+$/, "")),
      hashing,
      administrators: createSemaphore(1, HASHES_WAITING),
      peers: peersOf,
    }),
    authenticator: createAuthAuthenticator(verification, assertionRing, usage),
    async ready() {
      try {
        await store.ping();
      } catch {
        return "the store of auth does not answer";
      }
      return tenure.held() || (await tenure.confirm()) ? undefined : "auth was replaced by a newer process";
    },
    async close() {
      for (const timer of timers) clearInterval(timer);
      hub.close();
      tenure.close();
      await writeOwnUsage();
    },
  };
}
