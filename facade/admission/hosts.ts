/** Whether a request may name this host (its Host header); none where it has no such header. */
export type AllowsHost = (host: string | undefined) => boolean;

/** What a service is called. */
export interface HostsOptions {
  /** Hosts that an administrator names, with their ports; absent for none in particular. */
  readonly named: readonly string[] | undefined;
  /** Hosts of the service's public URLs. */
  readonly published: readonly string[];
  /** The address that is listened on. */
  readonly address: string;
}

/** A name of this machine for itself, with any port: a port may be forwarded. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** Whether an address to listen on is reached from this machine only. */
export function isLoopback(address: string): boolean {
  return LOOPBACK.test(address) || address === "::1";
}

/**
 * Builds the check of Host headers, which stops DNS rebinding: a web page whose
 * name is turned to this machine's address still says its own name. Where an
 * administrator names hosts, those; else any, but of a service that is reached
 * from its own machine only, its names and those it publishes.
 */
export function createHosts({ named, published, address }: HostsOptions): AllowsHost {
  if (named !== undefined) {
    const known = new Set(named.map((host) => host.toLowerCase()));
    return (host) => known.has(host?.toLowerCase() ?? "");
  }
  if (!isLoopback(address)) return () => true;
  const known = new Set(published.map((host) => host.toLowerCase()));
  return (host) => host !== undefined && (known.has(host) || LOOPBACK.test(host) || known.has(host.toLowerCase()));
}
