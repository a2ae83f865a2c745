import type { Auditor } from "../shared/audit/auditor.js";
import type { KeyFormat } from "../shared/credentials/format.js";
import type { UsageWriter } from "../shared/credentials/usage-writer.js";
import type { Buckets } from "../shared/limits/buckets.js";
import type { WorkLimit } from "../shared/limits/work-limit.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { AssertionMint } from "./assertion-mint.js";
import type { AuditBounds, AuditTrail } from "./audit-trail.js";
import type { EmailDomains } from "./email-domains.js";
import type { KeyRing } from "./key-ring.js";
import type { PlatformTokens } from "./platform-tokens.js";
import type { Sessions } from "./sign-in/sessions.js";
import type { Throttle } from "./sign-in/throttle.js";
import type { AuthStore } from "./store.js";
import type { KeyVerification } from "./verification.js";
import type { WatchHub } from "./watch-hub.js";

/** What the commands of the auth service work with. */
export interface Context {
  readonly store: AuthStore;
  readonly format: KeyFormat;
  readonly hub: WatchHub;
  readonly audit: AuditTrail;
  readonly auditBounds: AuditBounds;
  /** Hears of keys that are refused at any door; undefined where nobody writes it down. */
  readonly auditor: Auditor | undefined;
  readonly verification: KeyVerification;
  readonly usage: UsageWriter;
  readonly assertionRing: KeyRing;
  readonly assertions: AssertionMint;
  /** Of OAuth access tokens. */
  readonly accessRing: KeyRing;
  /** Exchanges of assertions at this process, by service account. */
  readonly exchanges: Buckets;
  readonly platformRing: KeyRing;
  /** The public base URL, without a last slash: the issuer of all tokens. */
  readonly issuer: string;
  readonly platformTokens: PlatformTokens;
  readonly emailDomains: EmailDomains;
  /** Bounds bcrypt and Argon2 work. */
  readonly hashing: WorkLimit;
  /** One at a time: changes that could take away the last administrator. */
  readonly administrators: WorkLimit;
  readonly sessions: Sessions;
  readonly throttle: Throttle;
  /** How to reach the other services; undefined while they are not there. */
  readonly peers: () => Peers | undefined;
}
