import type { Caller } from "../rpc/call.js";

/** Who a credential stands for, and how services recognise the caller. */
export interface Known {
  readonly caller: Caller;
  /** The caller's assertion for each service, by the service's name. */
  readonly assertions: Readonly<Record<string, string>>;
  /** The only MCP endpoint at which it is good, by URL; undefined for an API key. */
  readonly resource: string | undefined;
  /** Milliseconds since the epoch; after it the credential has to be verified again. */
  readonly expiresAt: number;
}

/** Why a credential is refused. Only `throttled` and `unavailable` can change by waiting. */
export interface Refusal {
  readonly refused: "malformed" | "unknown" | "expired" | "revoked" | "throttled" | "disabled" | "unavailable";
}
