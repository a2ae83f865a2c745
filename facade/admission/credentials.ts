import type { Caller } from "../../services/shared/rpc/call.js";

/** How the façade learns who presents a bearer token, and for how long it may believe it. */
export interface Credentials {
  /** Hot path: a look-up under the lease; undefined = not known here, ask verify. */
  peek(token: string): Known | undefined;

  /** Asks auth, or remembers a refusal; never answers from memory without a lease. */
  verify(token: string): Promise<Known | Refusal>;

  /**
   * Calls `kill` when the key or user is revoked or the lease lapses while a
   * response is open; at once where that has happened already. Returns how to let go.
   */
  hold(known: Known, kill: () => void): () => void;

  /**
   * Tells of every change after which what is kept about it is dropped; the
   * change is acknowledged when the listener's promise resolves. Returns how
   * to stop listening.
   */
  onEvent(listener: (event: CredentialEvent) => void | Promise<void>): () => void;

  /** Whether a lease is held now. */
  leased(): boolean;
}

/** A caller and what services recognise the caller by. */
export interface Known {
  readonly caller: Caller;
  /** By the service's name. */
  readonly assertions: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch: the earlier of the assertions' end and the credential's. */
  readonly expiresAt: number;
}

/** Why a token is refused: malformed, unknown, expired, revoked, throttled, disabled or unavailable. */
export interface Refusal {
  readonly refused: string;
}

/** What changed. */
export interface CredentialEvent {
  readonly kind: "key" | "user" | "setting" | "platform" | "reset";
  readonly id: string;
}
