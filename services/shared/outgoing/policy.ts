/** Which addresses this deployment opens, and its proxy. Plain data, so that a worker thread can be given it. */
export interface OutgoingPolicy {
  /**
   * What is opened of the addresses that are closed: addresses, ranges such as 10.0.0.0/8, and host names; an address
   * or a name may have a port. All of them are called directly, never through the proxy.
   */
  readonly allow: readonly string[];
  /** The URL of the HTTP proxy that everything else goes through; "" for none. */
  readonly proxy: string;
}

/** Nothing is listed, and there is no proxy: only public addresses are called. */
export const PUBLIC_ONLY: OutgoingPolicy = { allow: [], proxy: "" };

/** The policy with more entries on its list. */
export function withAllowed(policy: OutgoingPolicy, more: readonly string[]): OutgoingPolicy {
  return { ...policy, allow: [...policy.allow, ...more] };
}
