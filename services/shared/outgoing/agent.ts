import type { LookupFunction } from "node:net";
import { Agent } from "undici";
import { createDial } from "./dial.js";
import type { OutgoingPolicy } from "./policy.js";

/** What users of an agent need of undici, which nothing else imports: so that no connection passes the guard by. */
export { type Agent, type Dispatcher, fetch, type RequestInit, Response } from "undici";

/** What an agent needs in addition to undici's own options; its connections are opened by the guard alone. */
export interface AgentOptions extends Omit<Agent.Options, "connect" | "factory" | "interceptors"> {
  readonly policy: OutgoingPolicy;
  /** How long a connection may take to open, in milliseconds. */
  readonly connectMs: number;
  /** Looks names up, where not the system does. */
  readonly resolve?: LookupFunction | undefined;
}

/** Makes the connections to addresses that others named: every one is checked when it is dialled, and no redirect is followed. */
export function createOutgoingAgent({ policy, connectMs, resolve, ...options }: AgentOptions): Agent {
  return new Agent({ ...options, connect: createDial(connectMs, policy, resolve) });
}
