/** A service account that makes a call: an internal system with keys of its own. */
export interface CallingAccount {
  /** Its id; the caller's own unless it acts for a user. */
  readonly id: string;
  /** `svc:<name>`. */
  readonly name: string;
  /** The rpcs that it may call: `package.Service/Method` or `package.Service/*`. */
  readonly methods: readonly string[];
}

/** Who is calling. */
export interface Caller {
  /** The user's id, or that of a service account. */
  readonly id: string;
  /** The user's e-mail address, lower case; "" for a service account. */
  readonly email: string;
  readonly name: string;
  readonly admin: boolean;
  /** Ids of the groups the caller is a member of. */
  readonly groups: readonly string[];
  readonly scopes: ReadonlySet<string>;
  /** The API key that was presented; "" for other credentials. */
  readonly keyId: string;
  /** A service of ours, which calls for nobody. */
  readonly service: boolean;
  /** The service account that calls, as itself or for this user; absent for everybody else. */
  readonly account?: CallingAccount;
  /** The id of the run that calls as this user; absent if the user calls. */
  readonly run?: string;
}

/** What a caller presents to a service: one of the two. */
export interface Credential {
  /** The value of the authorization header: `Bearer <API key>`. */
  readonly authorization?: string;
  /** A caller assertion minted by auth for this service. */
  readonly assertion?: string;
}

/** The header that carries a caller assertion between our services. */
export const ASSERTION_HEADER = "x-caller";

/** What an adapter knows of a call before anybody has looked at it. */
export interface Incoming {
  readonly credential: Credential;
  /** Aborted when the client goes away or the deadline passes. It may be made when it is first asked for. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch; absent for no deadline. */
  readonly deadline?: number | undefined;
  /** W3C trace context. */
  readonly traceparent?: string | undefined;
  /** Who calls, where the adapter has asked already (admission.ts). */
  readonly admitted?: Authenticated | undefined;
  /**
   * Appends fields of protobuf to the response that a stream gives next: bytes that are the same for many, and are written
   * once. Absent where responses are not written as protobuf.
   */
  readonly append?: ((fields: Uint8Array) => void) | undefined;
}

/** What a method knows of the call it answers. */
export interface Call extends Incoming {
  readonly caller: Caller;
  /** The caller's assertion for this service; "" where auth itself is called. */
  readonly assertion: string;
}

/** Establishes who presents a credential. */
export interface Authenticator {
  /** @throws ConnectError unauthenticated, or unavailable where nobody can say. */
  authenticate(credential: Credential): Promise<Authenticated> | Authenticated;
}

/** Who presented a credential, once that is established. */
export interface Authenticated {
  readonly caller: Caller;
  readonly assertion: string;
  /**
   * Milliseconds since the epoch from which the credential has to be presented
   * again by what is still open; absent where only an event can end it.
   */
  readonly expiresAt?: number | undefined;
}
