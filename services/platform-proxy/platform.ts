import type { Caller } from "../shared/call.js";
import type { RestRequest } from "./binding.js";

/**
 * A connected platform, as one caller may use it during one call.
 *
 * Before the first exchange for a caller the platform was asked who it thinks
 * is calling; an answer other than the caller's e-mail refuses the call. Every
 * exchange ends with the call's signal and deadline.
 */
export interface Platform {
  readonly server: "cti" | "aev" | "grc";
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** The platform's answer to "who am I", kept for up to 60 seconds; its shape is the adapter's. */
  me<Me>(): Promise<Me>;
  /** @throws ConnectError with the platform's own refusal in words for the caller. */
  graphql<Data>(document: string, variables: Record<string, unknown>): Promise<Data>;
  /** @throws ConnectError with the platform's own refusal in words for the caller. */
  rest<Body>(request: RestRequest): Promise<Body>;
}
