import { availableParallelism } from "node:os";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { Auditor } from "../shared/audit/auditor.js";
import { createKeyFormat, DEFAULT_KEY_PREFIX } from "../shared/credentials/format.js";
import { createUsageWriter } from "../shared/credentials/usage-writer.js";
import type { Rate } from "../shared/limits/bucket.js";
import { Buckets } from "../shared/limits/buckets.js";
import { createWorkLimit } from "../shared/limits/work-limit.js";
import { PUBLIC_ONLY } from "../shared/outgoing/policy.js";
import type { Log } from "../shared/process/log.js";
import type { Method } from "../shared/rpc/method.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { AuthenticatingService } from "../shared/rpc/service.js";
import type { Seal } from "../shared/secrets/seal.js";
import type { Store } from "../shared/store/store.js";
import { createAssertionMint } from "./assertion-mint.js";
import { startAuditExport } from "./audit-export/export.js";
import type { AuditExportSettings } from "./audit-export/setting.js";
import { type AuditBounds, openAuditTrail } from "./audit-trail.js";
import { createAuthAuthenticator } from "./authenticator.js";
import { recordOwnAudit } from "./commands/record-audit.js";
import type { Context } from "./context.js";
import type { Doors } from "./doors.js";
import { createEmailDomains } from "./email-domains.js";
import { createOwnOrder, type EventOrder, nextEpoch } from "./event-order.js";
import { NO_AUTHORIZATION_SERVER, openExternal } from "./external/open.js";
import { createFence, type Fence } from "./fence.js";
import { openKeyRing } from "./key-ring.js";
import { type AuthorizationServerSettings, openAuthorizationServer } from "./oauth/open.js";
import { OutsideSignIn } from "./oauth/outside-sign-in.js";
import { openPageSecret } from "./oauth/page-secret.js";
import { createPlatformTokens } from "./platform-tokens.js";
import { LEASE_MARGIN } from "./processes.js";
import { routes } from "./routes.js";
import { openSharedOrder } from "./shared-order.js";
import { ConsoleSignIn } from "./sign-in/at-console.js";
import { openSignIn } from "./sign-in/open.js";
import { createSessions } from "./sign-in/sessions.js";
import { createThrottle } from "./sign-in/throttle.js";
import { type AuthStore, openAuthStore } from "./store.js";
import { writeUsage } from "./usage-report.js";
import { createKeyVerification } from "./verification.js";
import { createWatchHub, type WatchHub } from "./watch-hub.js";

/** What the auth service is made with. */
export interface AuthOptions extends AuthorizationServerSettings {
  /** Stays open: who opened it closes it. */
  readonly store: Store;
  /** Seals the private halves of signing keys. */
  readonly seal: Seal;
  /** The public base URL: the issuer of tokens. */
  readonly baseUrl: string;
  readonly log: Log;
  /** The domains that users' addresses may be of, in lower case and ASCII; any where left out. */
  readonly emailDomains?: readonly string[] | undefined;
  /** What API keys begin with. */
  readonly keyPrefix?: string;
  /** How long, and how much of it, the audit is kept. */
  readonly auditBounds?: AuditBounds;
  /** Where else the audit goes. */
  readonly auditExport?: AuditExportSettings;
  /** Hears of keys that are refused at any door. */
  readonly auditor?: Auditor;
  /** How long a watcher may use what it keeps, in milliseconds. */
  readonly leaseMs?: number;
  /** Whether other auth processes may use the store at the same time; what the store says of itself, if left out. */
  readonly shared?: boolean;
  /**
   * How long leases of a process before this one may still run that left no
   * record in the store, in milliseconds; 0 where every watcher lived in that
   * very process. Until then nothing published returns.
   */
  readonly fenceMs?: number;
  /** The text of the setting of an authorization server of others; the embedded one issues tokens if omitted. */
  readonly external?: string;
  /** How to reach the other services; undefined while they are not there. */
  readonly peersOf?: () => Peers | undefined;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Services keep the key set for five minutes, assertions live for five. */
const ASSERTION_RING = { leadMs: 10 * MINUTE, graceMs: 10 * MINUTE, rotateMs: 7 * DAY };
/** Processes keep the key set for five minutes, access tokens live for ten. */
const ACCESS_RING = { leadMs: 10 * MINUTE, graceMs: 20 * MINUTE, rotateMs: 30 * DAY };
/** Platforms keep the key set for an hour. */
const PLATFORM_RING = { leadMs: 2 * HOUR, graceMs: 2 * HOUR, rotateMs: 30 * DAY };
/** Some twenty seconds of bcrypt on two cores, which is how long a verification is waited for. */
const HASHES_WAITING = 2_000;
const CHANGES_WAITING = 200;
/** Exchanges of one service account: what an exchange gives lives five minutes, and each user that an account acts for needs one. */
const EXCHANGE_RATE: Rate = { perSecond: 5, burst: 100 };
const EXCHANGING_ACCOUNTS = 10_000;
/** Events kept for watchers that reconnect. */
const LOGGED = 10_000;
const AUDIT_BOUNDS: AuditBounds = { days: 400, records: 250_000 };

/** The auth service: who is calling, and what is signed in their name. */
export async function createAuthService(options: AuthOptions): Promise<AuthenticatingService> {
  const { seal, shared: isShared = options.store.isShared } = options;
  const store = await openAuthStore(options.store);
  const assertionRing = await openKeyRing(store, "assertion", { ...ASSERTION_RING, seal });
  const platformRing = await openKeyRing(store, "platform", { ...PLATFORM_RING, seal });
  const accessRing = await openKeyRing(store, "access", { ...ACCESS_RING, seal });
  const { order, hub } = await openHub(store, options);
  const fence = createFence(order);
  const context = contextOf(options, { store, hub, assertionRing, platformRing, accessRing });
  const doors = await openDoors(context, options);
  const upkeep = startUpkeep(context, options.log);
  const auditExport = options.auditExport && startAuditExport(store, options.auditExport, options.log, !isShared);
  return {
    name: "auth",
    methods: routes(context, doors).map((method) => fenced(method, fence)),
    authenticator: createAuthAuthenticator(context.verification, assertionRing, context.usage.counter),
    async recordAudit(request) {
      await fence.check();
      return recordOwnAudit(context, request);
    },
    async ready() {
      try {
        await options.store.ping();
      } catch {
        return "the store of auth does not answer";
      }
      return order.held() || (await order.confirm())
        ? undefined
        : "auth cannot keep its place among the auth processes";
    },
    async close() {
      hub.close();
      await doors.close();
      await upkeep.close();
      await auditExport?.close();
      await order.close();
      await context.audit.close();
    },
  };
}

/** Where people sign in; and the embedded authorization server, or what takes the tokens of another one in its place. */
async function openDoors(context: Context, options: AuthOptions): Promise<Doors & { close(): Promise<void> }> {
  const { external, publicUrls = {}, outgoing = PUBLIC_ONLY, log, serviceName = "Sallyport", seal } = options;
  const issuer = new URL(context.issuer);
  const site = { base: issuer.pathname.replace(/\/$/, ""), serviceName };
  const secret = await openPageSecret(context.store, seal);
  const { signIn, federation } = openSignIn({
    context,
    site,
    secret,
    providers: options.signInProviders,
    seal,
    outgoing,
    log,
  });
  const doors = {
    consoleSignIn: new ConsoleSignIn({ signIn, site, origin: issuer.origin }),
    outside: new OutsideSignIn({ federation, signIn, site, issuer }),
    close: () => federation.close(),
  };
  if (external !== undefined) {
    const tokens = openExternal(context, { external, publicUrls, outgoing, log });
    return { ...doors, authorizationServer: NO_AUTHORIZATION_SERVER, external: tokens };
  }
  const authorizationServer = await openAuthorizationServer(context, options, { site, secret, signIn });
  return { ...doors, authorizationServer, external: undefined };
}

/** A method that writes asks first whether this process is one of those that others wait for; which do, their rpcs say. */
function fenced(method: Method, fence: Fence): Method {
  const { desc, handle } = method;
  if (desc.methodKind !== "unary" || desc.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS) return method;
  return {
    ...method,
    async handle(request, call) {
      await fence.check();
      return handle(request, call);
    },
  };
}

/**
 * Opens the order of events, and the hub that tells watchers of them. A store
 * that others may use keeps the order; in one that is this process's alone it is
 * kept in memory, and the leases of the process before are waited out.
 */
async function openHub(
  store: AuthStore,
  { store: { isShared }, shared = isShared, leaseMs = 3_000, fenceMs, log }: AuthOptions,
): Promise<{ readonly order: EventOrder; readonly hub: WatchHub }> {
  const waitMs = leaseMs / 3 + leaseMs * LEASE_MARGIN;
  if (shared) {
    const order = await openSharedOrder({ store, leaseMs, logged: LOGGED, log });
    return { order, hub: createWatchHub({ order, leaseMs, fenceMs: fenceMs ?? (order.follows ? waitMs : 0) }) };
  }
  const epoch = await nextEpoch(store);
  const order = createOwnOrder(epoch, LOGGED);
  return { order, hub: createWatchHub({ order, leaseMs, fenceMs: fenceMs ?? (epoch === 1 ? 0 : waitMs) }) };
}

function contextOf(
  {
    baseUrl,
    emailDomains,
    keyPrefix = DEFAULT_KEY_PREFIX,
    peersOf = () => undefined,
    auditBounds = AUDIT_BOUNDS,
    auditor,
    log,
  }: AuthOptions,
  opened: Pick<Context, "store" | "hub" | "assertionRing" | "platformRing" | "accessRing">,
): Context {
  const { store, hub, assertionRing, platformRing } = opened;
  const issuer = baseUrl.replace(/\/+$/, "");
  const hashing = createWorkLimit(availableParallelism(), HASHES_WAITING);
  const format = createKeyFormat(keyPrefix);
  return {
    ...opened,
    format,
    auditor,
    audit: openAuditTrail(store, auditBounds),
    auditBounds,
    verification: createKeyVerification(store, format, hashing, () => hub.seq),
    usage: createUsageWriter({
      write: (usages) => writeUsage(store, usages),
      failed: (error) => log.warn({ err: error }, "uses of API keys cannot be saved; they are kept and saved later"),
    }),
    assertions: createAssertionMint(assertionRing),
    issuer,
    exchanges: new Buckets(EXCHANGE_RATE, EXCHANGING_ACCOUNTS),
    platformTokens: createPlatformTokens(platformRing, issuer),
    emailDomains: createEmailDomains(emailDomains),
    sessions: createSessions(store, hub),
    throttle: createThrottle(store),
    hashing,
    administrators: createWorkLimit(1, CHANGES_WAITING),
    peers: peersOf,
  };
}

/** Once a minute rotates keys and shortens the audit and the events; closing writes the last uses of keys. */
function startUpkeep(context: Context, log: Log): { close(): Promise<void> } {
  const timers = [
    setInterval(() => void tendRings(context, log), MINUTE),
    setInterval(() => void tendAudit(context, log), MINUTE),
    setInterval(() => void tendEvents(context, log), MINUTE),
  ];
  for (const timer of timers) timer.unref();
  return {
    async close() {
      for (const timer of timers) clearInterval(timer);
      await context.usage.close();
    },
  };
}

async function tendRings({ assertionRing, platformRing, accessRing }: Context, log: Log): Promise<void> {
  try {
    await Promise.all([assertionRing, platformRing, accessRing].map((ring) => ring.tend()));
  } catch (error) {
    log.error({ err: error }, "signing keys cannot be rotated");
  }
}

async function tendEvents({ hub }: Context, log: Log): Promise<void> {
  try {
    await hub.tend();
  } catch (error) {
    log.warn({ err: error }, "old events cannot be deleted; auth tries again in a minute");
  }
}

async function tendAudit({ audit }: Context, log: Log): Promise<void> {
  try {
    await audit.tend();
  } catch (error) {
    log.warn({ err: error }, "old audit records cannot be deleted; auth tries again in a minute");
  }
}
